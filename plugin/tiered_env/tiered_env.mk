tiered_env_SOURCES = emulate.cc head.cc header.cc pmem.cc reader.cc region.cc writer.cc
tiered_env_HEADERS = tiered_env.h

# libpmem is optional: without it tiers of kind pmem are refused.
ifneq ($(wildcard /usr/include/libpmem.h),)
%/tiered_env/region.o: CXXFLAGS += -DTIERED_LIBPMEM
tiered_env_LDFLAGS = -lpmem
endif
