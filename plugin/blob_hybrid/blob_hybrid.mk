blob_hybrid_SOURCES = collector.cc databases.cc factory.cc filter.cc inspect.cc listener.cc options.cc policy.cc register.cc stats.cc survey.cc
blob_hybrid_HEADERS = blob_hybrid.h
blob_hybrid_FUNC = register_blob_hybrid
