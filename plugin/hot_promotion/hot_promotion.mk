hot_promotion_SOURCES = builder.cc cache.cc catalog.cc collector.cc engine.cc factory.cc filter.cc folder.cc format.cc hints.cc inspect.cc log.cc opening.cc options.cc partitioner.cc ralt.cc ralt/batch.cc ralt/buffer.cc ralt/builder.cc ralt/catalog.cc ralt/cursor.cc ralt/digest.cc ralt/evict.cc ralt/maintain.cc ralt/merge.cc ralt/parameters.cc ralt/record.cc ralt/sample.cc ralt/shelf.cc ralt/tablet.cc ralt/tree.cc ralt/version.cc reader.cc register.cc rounds.cc scan.cc slow.cc stats.cc store.cc
hot_promotion_HEADERS = hot_promotion.h
hot_promotion_FUNC = register_hot_promotion
