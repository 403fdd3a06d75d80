# Functions for the CMakeLists.txt files of tests, examples and benchmarks.

# rocktier_executable(name [PLUGIN plugin] SOURCES file... [LIBS lib...])
#
# An executable that links with RocksDB and the plugins. Left out when `plugin` is not built.
function(rocktier_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PLUGIN" "SOURCES;LIBS")
  if(arg_PLUGIN AND NOT arg_PLUGIN IN_LIST rocktier_plugins)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} rocktier_rocksdb)
endfunction()

# rocktier_ctest(name COMMAND command... [LABELS label...] [TIMEOUT seconds] [LONG] [SERIAL]
#                [ENVIRONMENT name=value...])
#
# Registers a command with ctest. It runs with TEST_TMPDIR, a folder of its own, on the disk of the
# build directory. LONG: not a part of "make test". SERIAL: runs alone. Programs are in
# ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}, also given as ROCKTIER_BIN in the environment.
function(rocktier_ctest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG;SERIAL" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(arg_LONG)
    list(APPEND arg_LABELS long)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(ROCKTIER_SANITIZER)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
  endif()
  set(scratch "${CMAKE_BINARY_DIR}/scratch/${name}")
  list(APPEND arg_ENVIRONMENT
    "TEST_TMPDIR=${scratch}" "ROCKTIER_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1" "TSAN_OPTIONS=halt_on_error=1")
  add_test(NAME ${name} COMMAND "${CMAKE_SOURCE_DIR}/scripts/in-scratch" "${scratch}" ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    RUN_SERIAL "${arg_SERIAL}" ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# rocktier_test(name [PLUGIN plugin] SOURCES file... [LIBS lib...] [ARGS arg...] [SHARDS n] [NO_MAIN]
#               [LABELS ...] [TIMEOUT ...] [LONG] [SERIAL] [ENVIRONMENT ...])
#
# A GoogleTest executable in the checked configurations (assertions, SyncPoints), with RocksDB's own
# gtest and test helpers and, unless NO_MAIN, with main(). SHARDS: its cases are dealt out to n ctest
# entries, which run in parallel. LONG executables are built only by the target rocktier_long.
function(rocktier_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MAIN;LONG;SERIAL" "PLUGIN;SHARDS;TIMEOUT"
    "SOURCES;LIBS;ARGS;LABELS;ENVIRONMENT")
  if(CMAKE_BUILD_TYPE STREQUAL "Release" OR
      (arg_PLUGIN AND NOT arg_PLUGIN IN_LIST rocktier_plugins))
    return()
  endif()
  if(NOT arg_NO_MAIN)
    list(APPEND arg_SOURCES "${CMAKE_SOURCE_DIR}/test/support/test_main.cc")
  endif()
  rocktier_executable(${name} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS} testharness gtest)
  set(options LABELS ${arg_LABELS})
  if(arg_TIMEOUT)
    list(APPEND options TIMEOUT ${arg_TIMEOUT})
  endif()
  if(arg_SERIAL)
    list(APPEND options SERIAL)
  endif()
  if(arg_LONG)
    list(APPEND options LONG)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(rocktier_long ${name})
  endif()
  if(NOT arg_SHARDS)
    rocktier_ctest(${name} COMMAND $<TARGET_FILE:${name}> ${arg_ARGS} ${options} ENVIRONMENT ${arg_ENVIRONMENT})
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    rocktier_ctest(${name}.${shard} COMMAND $<TARGET_FILE:${name}> ${arg_ARGS} ${options}
      ENVIRONMENT ${arg_ENVIRONMENT} GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
  endforeach()
endfunction()

add_custom_target(rocktier_long COMMENT "Built the long tests")
