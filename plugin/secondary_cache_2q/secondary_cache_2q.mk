secondary_cache_2q_SOURCES = block_cache.cc block_check.cc block_form.cc cache.cc cache_key.cc caches.cc carrier.cc carrier_thread.cc carry.cc carry_job.cc carry_plan.cc codec.cc configure.cc crc32c.cc device.cc dram.cc file.cc file_part.cc file_read.cc file_recovery.cc format.cc free_space.cc index_map.cc inspect.cc listener.cc lookup.cc metered_fs.cc metrics_page.cc metrics_reporter.cc opening.cc options.cc pmem.cc policy.cc policy_state.cc references.cc register.cc shard.cc shard_files.cc sst_index.cc sst_reader.cc stats.cc uring.cc
secondary_cache_2q_HEADERS = secondary_cache_2q.h
secondary_cache_2q_FUNC = register_secondary_cache_2q

# libpmem is optional: without it io=pmem is refused.
ifneq ($(wildcard /usr/include/libpmem.h),)
%/secondary_cache_2q/pmem.o: CXXFLAGS += -DTWOQ_LIBPMEM
secondary_cache_2q_LDFLAGS = -lpmem
endif
