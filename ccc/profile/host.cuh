// What cccc --ccc-profile=FILE includes before each CUDA source: writes FILE when the program ends.
//
// The counters are in the device code, which ccc/profile/instrument/ makes count and describe
// itself; this only reads them (the layout is explained in ccc/profile/data.py). CUDA may not be
// called any more once the program leaves main, unless whoever does so signed up after CUDA itself
// did: that is why the first launch, and no constructor, signs up for the program's end.
//
//     extern "C" void ccc_profile_write(void);
//
// writes FILE at once; nothing is written at the end then. A program that calls cudaDeviceReset(),
// or launches through cudaLaunchKernel() only, needs it.
#if defined(__CUDACC__) && !defined(CCC_PROFILE_CUH)
#define CCC_PROFILE_CUH
#pragma GCC system_header

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The address of the counters, how many there are, the address of the table, and its bytes. */
static __device__ unsigned long long ccc_profile[4];

/* One in the whole process, shared libraries among it, hence the visibility. */
namespace ccc_profiling __attribute__((visibility("default"))) {

struct Module {
    const void *descriptor;
    Module *next;
};

struct State {
    Module *modules;
    unsigned long long devices; /* one bit for each that a kernel was launched on */
    bool at_exit, written;
};

inline State &state() {
    static State only;
    return only;
}

inline bool failed(cudaError_t error) {
    if (error != cudaSuccess) fprintf(stderr, "ccc: no profile: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

/* A copy of device memory, to be freed; with a 0 behind it. Null, and a message, if it fails. */
inline void *fetch(unsigned long long address, size_t bytes) {
    char *copy = static_cast<char *>(malloc(bytes + 1));
    if (!copy || failed(cudaMemcpy(copy, reinterpret_cast<const void *>(address), bytes,
                                   cudaMemcpyDeviceToHost))) {
        free(copy);
        return 0;
    }
    copy[bytes] = 0;
    return copy;
}

/* The file while it is written, under another name. */
struct Output {
    FILE *file;
    char name[4096], beside[4112];
    bool replaces;

    bool open(const char *wanted) {
        if (file) return true;
        struct stat found;
        bool there = stat(wanted, &found) == 0;
        char *target = there ? realpath(wanted, 0) : 0; /* a symbolic link stays one */
        snprintf(name, sizeof name, "%s", target ? target : wanted);
        free(target);
        replaces = !there || S_ISREG(found.st_mode); /* a device or a pipe is written into */
        if (replaces) snprintf(beside, sizeof beside, "%s.%ld", name, static_cast<long>(getpid()));
        else snprintf(beside, sizeof beside, "%s", wanted);
        file = fopen(beside, "w");
        if (file) fputs("{\"format\": 3, \"modules\": [", file);
        else perror(wanted);
        return file;
    }

    void close() {
        if (!file) return;
        bool whole = fputs("]}\n", file) >= 0 && !ferror(file);
        if (fclose(file) != 0 || !whole || (replaces && rename(beside, name) != 0)) {
            perror(name);
            drop();
        }
    }

    void drop() {
        if (replaces) remove(beside);
    }
};

/* Add what one module has counted on the current device. The table begins with the file's name. */
inline bool add(const Module *module, Output &output, bool &counted) {
    const int copies = 32;
    unsigned long long sizes[4];
    if (failed(cudaMemcpyFromSymbol(sizes, module->descriptor, sizeof sizes))) return false;
    if (!sizes[3]) return true; /* a source without annotations */
    char *table = static_cast<char *>(fetch(sizes[2], sizes[3]));
    unsigned long long *counters =
        static_cast<unsigned long long *>(fetch(sizes[0], 8 * copies * sizes[1]));
    bool done = false;
    if (table && counters) {
        char *json = table;
        while (*json && *json != '\n') ++json;
        *json++ = 0;
        const char *wanted = getenv("CCC_PROFILE");
        const char *separator = output.file ? ", " : "";
        if (output.open(wanted && *wanted ? wanted : table)) {
            fprintf(output.file, "%s{\"table\": %s, \"counters\": [", separator, json);
            for (unsigned long long i = 0; i < sizes[1]; ++i) {
                unsigned long long sum = 0;
                for (int k = 0; k < copies; ++k) sum += counters[i * copies + k];
                fprintf(output.file, i ? ", %llu" : "%llu", sum);
                counted |= sum != 0;
            }
            fputs("]}", output.file);
            done = true;
        }
    }
    free(table);
    free(counters);
    return done;
}

inline void write_profile() {
    State &all = state();
    Output output = Output();
    bool counted = false, good = true;
    int before = 0;
    if (failed(cudaGetDevice(&before))) return;
    unsigned long long devices = all.devices ? all.devices : 1ull << before;
    for (int device = 0; device < 64 && good; ++device) {
        if (!(devices >> device & 1)) continue;
        good = !failed(cudaSetDevice(device)) && !failed(cudaDeviceSynchronize());
        for (const Module *m = all.modules; m && good; m = m->next) good = add(m, output, counted);
    }
    cudaSetDevice(before);
    if (good && counted) {
        all.written = true;
        output.close();
        return;
    }
    if (output.file) {
        fclose(output.file);
        output.drop();
    }
    if (good)
        fputs("ccc: no profile: nothing was counted; if the program calls cudaDeviceReset(), call "
              "ccc_profile_write() before that\n", stderr);
}

inline void at_exit() {
    if (!state().written) write_profile();
}

/* Lives as long as a launch takes. */
struct Launch {
    ~Launch() {
        int device = 0;
        if (cudaGetDevice(&device) == cudaSuccess && device < 64)
            __atomic_fetch_or(&state().devices, 1ull << device, __ATOMIC_RELAXED);
        if (!__atomic_exchange_n(&state().at_exit, true, __ATOMIC_RELAXED)) atexit(at_exit);
    }
};

} /* namespace ccc_profiling */

/* Each source is on the list as long as it is loaded. */
namespace {
struct CccProfiled {
    ccc_profiling::Module module;
    CccProfiled() {
        module.descriptor = &ccc_profile;
        module.next = ccc_profiling::state().modules;
        ccc_profiling::state().modules = &module;
    }
    ~CccProfiled() {
        ccc_profiling::Module **place = &ccc_profiling::state().modules;
        while (*place && *place != &module) place = &(*place)->next;
        if (*place) *place = module.next;
    }
} ccc_profiled __attribute__((unused));
} /* namespace */

extern "C" __attribute__((weak, used, visibility("default"))) void ccc_profile_write(void) {
    ccc_profiling::write_profile();
}

#endif
