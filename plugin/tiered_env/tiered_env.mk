tiered_env_SOURCES = database.cc folder.cc format.cc fs.cc grammar.cc items.cc level.cc listener.cc manifest.cc move.cc mover.cc open.cc options.cc placement.cc plan.cc reader.cc register.cc stats.cc survey.cc writer.cc
tiered_env_HEADERS = tiered_env.h
tiered_env_FUNC = register_tiered_env
