# How every target of forklift is compiled, and how a floor is declared.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

# Warnings are errors; third-party headers are system headers and stay silent.
function(forklift_compile target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
    -Wimplicit-fallthrough -Werror)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  if(FORKLIFT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FORKLIFT_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${FORKLIFT_SANITIZE})
    if(FORKLIFT_SANITIZE MATCHES "address")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=all)
    endif()
  endif()
endfunction()

# The sources directly in a folder (not in its subfolders).
function(forklift_sources variable folder)
  file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# forklift_floor(NAME FOLDER DEPENDENCY…): the static library of one folder, which may use only what stands below it.
function(forklift_floor name folder)
  forklift_sources(sources "${folder}")
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARGN})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  forklift_compile(${name})
endfunction()
