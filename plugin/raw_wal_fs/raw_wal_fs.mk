raw_wal_fs_SOURCES = adopt.cc configure.cc copies.cc crc32c.cc database.cc deletion.cc device.cc failover.cc file.cc format.cc format_device.cc found_logs.cc fs.cc health.cc info_logs.cc inspect.cc listing.cc log.cc log_writer.cc lost_device.cc metrics_page.cc metrics_reporter.cc migrate.cc open_logs.cc open_volumes.cc opening.cc options.cc patient.cc patient_ring.cc probe.cc reader.cc recover.cc recovered_log.cc register.cc remove.cc report.cc scan.cc spill.cc standby.cc standby_copy.cc standby_wait.cc stats.cc stub.cc stub_finder.cc superblock.cc tail.cc volume.cc wal_home.cc
raw_wal_fs_HEADERS = raw_wal_fs.h
raw_wal_fs_FUNC = register_raw_wal_fs

# libblkid is optional: it names the file system that a device holds. With and without it only a
# device whose first and last MiB are zero is taken for blank.
ifneq ($(wildcard /usr/include/blkid/blkid.h),)
%/raw_wal_fs/probe.o: CXXFLAGS += -DRAW_WAL_LIBBLKID
raw_wal_fs_LDFLAGS = -lblkid
endif
