hot_promotion_SOURCES = builder.cc cache.cc catalog.cc collector.cc engine.cc factory.cc filter.cc format.cc options.cc ralt.cc reader.cc register.cc slow.cc stats.cc store.cc
hot_promotion_HEADERS = hot_promotion.h
hot_promotion_FUNC = register_hot_promotion
