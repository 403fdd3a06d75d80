rocktier_env_SOURCES = env.cc register.cc stack.cc
rocktier_env_HEADERS = rocktier_env.h
rocktier_env_FUNC = register_rocktier_env
