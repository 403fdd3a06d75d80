hot_promotion_SOURCES = factory.cc options.cc register.cc
hot_promotion_HEADERS = hot_promotion.h
hot_promotion_FUNC = register_hot_promotion
