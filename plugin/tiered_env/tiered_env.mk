tiered_env_SOURCES = adopt.cc archive.cc block.cc bringback.cc check.cc claim.cc compress.cc damaged.cc database.cc emulate.cc folder.cc format.cc fs.cc grammar.cc head.cc header.cc identity.cc inspect.cc inventory.cc items.cc keeper.cc layout.cc leave.cc ledger.cc level.cc listener.cc logdirs.cc logs.cc lost.cc make.cc manifest.cc move.cc mover.cc onlooker.cc open.cc options.cc owner.cc pack.cc placement.cc plan.cc pmem.cc reader.cc rebuild.cc recipe.cc recovery.cc region.cc register.cc restore.cc salvage.cc segment.cc shape.cc sink.cc source.cc stats.cc survey.cc sweep.cc trim.cc uncompress.cc visit.cc volatile.cc wal.cc waldir.cc writer.cc
tiered_env_HEADERS = tiered_env.h
tiered_env_FUNC = register_tiered_env

# libpmem is optional: without it tiers of kind pmem are refused.
ifneq ($(wildcard /usr/include/libpmem.h),)
%/tiered_env/region.o: CXXFLAGS += -DTIERED_LIBPMEM
tiered_env_LDFLAGS = -lpmem
endif
