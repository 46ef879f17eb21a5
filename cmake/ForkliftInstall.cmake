# `cmake --install` gives the binary, the public headers, the library, and a package for find_package(forklift).
#
# The library is static and made of one archive per floor; a consumer links `forklift::forklift` and gets them all.
include(CMakePackageConfigHelpers)

set(forklift_floors
    forklift_fmt forklift_values forklift_formats forklift_tying forklift_diagnose forklift_request forklift_estimate forklift_plan
    forklift_policy forklift_report forklift_output forklift_thinking forklift_worker forklift_model forklift_host
    forklift_system forklift_loop forklift)

install(TARGETS forklift_binary RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS ${forklift_floors} EXPORT forklift_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/forklift")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/forklift" "${PROJECT_BINARY_DIR}/include/forklift"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(EXPORT forklift_targets NAMESPACE forklift:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/forklift")

configure_package_config_file(cmake/forkliftConfig.cmake.in "${PROJECT_BINARY_DIR}/forkliftConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/forklift")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/forkliftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/forkliftConfig.cmake" "${PROJECT_BINARY_DIR}/forkliftConfigVersion.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/forklift")
