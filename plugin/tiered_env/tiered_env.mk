tiered_env_SOURCES = admin/adopt.cc admin/check.cc admin/evacuate.cc admin/examination.cc admin/inspect.cc admin/inventory.cc admin/session.cc db/database.cc db/manifest.cc db/mover.cc db/relocate.cc db/survey.cc db/sweep.cc files/folders.cc files/identity.cc files/io.cc files/lost.cc files/options_file.cc files/owner.cc files/stub.cc fs/claim.cc fs/file_system.cc fs/listener.cc fs/open.cc fs/random_access_file.cc fs/volatile.cc fs/writable_file.cc options/options.cc options/text.cc options/tier_options.cc pmem/file_length.cc pmem/file_system.cc pmem/header.cc pmem/mapping.cc pmem/posix.cc pmem/readable_files.cc pmem/writable_files.cc recipe/format.cc recipe/make.cc recipe/rebuild.cc recipe/recipe_log.cc recipe/recipe_log_file.cc recipe/recipe_log_follower.cc recipe/recipe_log_format.cc recovery/bring_back.cc recovery/damaged.cc recovery/recovery.cc recovery/recovery_manager.cc recovery/salvage.cc recovery/segment_loader.cc recovery/table_finder.cc recovery/table_writer.cc register.cc sst/block.cc sst/block_encoding.cc sst/data_blocks.cc sst/uncompress.cc stats.cc tier/expected_level.cc tier/placement.cc tier/plan.cc tier/slow_device.cc wal/archive.cc wal/archive_format.cc wal/batch_item.cc wal/codec.cc wal/log_directories.cc wal/log_reader.cc wal/segment.cc wal/segments.cc wal/trim.cc
tiered_env_HEADERS = tiered_env.h
tiered_env_FUNC = register_tiered_env

# libpmem is optional: without it tiers of kind pmem are refused.
ifneq ($(wildcard /usr/include/libpmem.h),)
%/tiered_env/pmem/mapping.o: CXXFLAGS += -DTIERED_LIBPMEM
tiered_env_LDFLAGS = -lpmem
endif
