tiered_env_SOURCES = grammar.cc items.cc placement.cc plan.cc
tiered_env_HEADERS = tiered_env.h
