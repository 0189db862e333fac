# find_package(ccc) and target_link_libraries(app PRIVATE ccc::cte): the folder of cte.cuh.
#
# This file lies in the Python package, and again in share/cmake/ccc of the environment that the
# package is installed in, which asks the command beside it.

get_filename_component(_ccc_include "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
if(NOT EXISTS "${_ccc_include}/cte.cuh")
    get_filename_component(_ccc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
    execute_process(COMMAND "${_ccc_prefix}/bin/ccc-cuda" include
        OUTPUT_VARIABLE _ccc_include OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT EXISTS "${_ccc_include}/cte.cuh")
    set(ccc_FOUND FALSE)
    set(ccc_NOT_FOUND_MESSAGE "there is no cte.cuh; -Dccc_DIR=$(ccc include --cmake) names its place")
    return()
endif()

if(NOT TARGET ccc::cte)
    add_library(ccc::cte INTERFACE IMPORTED)
    set_target_properties(ccc::cte PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${_ccc_include}"
        INTERFACE_COMPILE_FEATURES cuda_std_17)
endif()
