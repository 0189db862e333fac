// What cccc --ccc-time=FILE includes before each CUDA source: times kernels, and writes FILE when
// the program ends, unless it fails.
//
// Each launch by <<<>>> is put between two events of its stream (ccc/nvcc/timed_launches.py writes
// that into nvcc's side of the launch), so that the code of the kernel is as it is without. Events
// are read when they have been passed, or when the program ends, without waiting for them. CUDA may
// not be called any more once the program leaves main, unless whoever does so signed up after CUDA
// itself did: that is why a launch, and no constructor, signs up for the program's end.
//
//     extern "C" void ccc_time_write(void);
//
// writes FILE at once; nothing is written at the end then. A program that calls cudaDeviceReset()
// needs it.
#if defined(__CUDACC__) && !defined(CCC_TIMER_CUH)
#define CCC_TIMER_CUH
#pragma GCC system_header

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One in the whole process, shared libraries among it, hence the visibility. */
namespace ccc_timing __attribute__((visibility("default"))) {

/* What is known of a kernel. Launches are those that were timed. */
struct Kernel {
    const char *name;
    Kernel *next;
    unsigned long long launches, untimed;
    double milliseconds;
};

/* A launch whose events have perhaps not been passed yet; a free one otherwise. */
struct Pending {
    Kernel *kernel;
    cudaEvent_t start, end;
    int device;
    Pending *next;
};

struct State {
    Kernel *kernels;
    Pending *oldest, **newest, *free;
    const char *file;
    int lock, pending;
    bool at_exit, written;
    cudaError_t error; /* why nothing is known of the times, if so */
};

inline State &state() {
    static State only;
    return only;
}

/* Threads of the host may launch at the same time. */
struct Lock {
    Lock() {
        while (__atomic_exchange_n(&state().lock, 1, __ATOMIC_ACQUIRE)) usleep(1);
    }
    ~Lock() { __atomic_store_n(&state().lock, 0, __ATOMIC_RELEASE); }
};

inline bool failed(cudaError_t error) {
    if (error == cudaSuccess) return false;
    if (!state().error) fprintf(stderr, "ccc: no times: %s\n", cudaGetErrorString(error));
    state().error = error;
    return true;
}

/* The kernel of that name; one for each place that it is launched from. It is never given back. */
inline Kernel *kernel(const char *name, const char *file) {
    Lock lock;
    Kernel *made = static_cast<Kernel *>(calloc(1, sizeof(Kernel)));
    made->name = strdup(name);
    made->next = state().kernels;
    if (!state().file) state().file = strdup(file);
    return state().kernels = made;
}

/* Read the oldest launches: all, or those that are over. */
inline void collect(bool all) {
    State &s = state();
    while (s.oldest && !s.error) {
        Pending *one = s.oldest;
        float spent = 0;
        if (!all && cudaEventQuery(one->end) == cudaErrorNotReady) {
            cudaGetLastError(); /* it is no error of the program's */
            return;
        }
        if (failed(cudaEventSynchronize(one->end)) ||
            failed(cudaEventElapsedTime(&spent, one->start, one->end)))
            return;
        one->kernel->milliseconds += spent;
        ++one->kernel->launches;
        s.oldest = one->next;
        if (!s.oldest) s.newest = &s.oldest;
        --s.pending;
        one->next = s.free;
        s.free = one;
    }
}

/* Two events of a device. */
inline Pending *take(int device) {
    for (Pending **place = &state().free; *place; place = &(*place)->next)
        if ((*place)->device == device) {
            Pending *found = *place;
            *place = found->next;
            return found;
        }
    Pending *made = static_cast<Pending *>(calloc(1, sizeof(Pending)));
    made->device = device;
    if (failed(cudaEventCreate(&made->start)) || failed(cudaEventCreate(&made->end))) return 0;
    return made;
}

inline const char *device_name() {
    static cudaDeviceProp properties;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return "";
    return properties.name;
}

/* FILE, or what CCC_TIME names; in a folder, a file for each process. */
inline FILE *open() {
    const char *wanted = getenv("CCC_TIME");
    char name[4200];
    struct stat found;
    if (!wanted || !*wanted) wanted = state().file;
    snprintf(name, sizeof name, "%s", wanted);
    if (stat(wanted, &found) == 0 && S_ISDIR(found.st_mode))
        snprintf(name, sizeof name, "%s/%ld.json", wanted, static_cast<long>(getpid()));
    FILE *file = fopen(name, "w");
    if (!file) perror(name);
    return file;
}

inline void write() {
    Lock lock;
    State &s = state();
    collect(true);
    s.written = true;
    if (s.error) {
        if (s.error == cudaErrorNoDevice || s.error == cudaErrorInsufficientDriver) return;
        fputs("ccc: no times: if the program calls cudaDeviceReset(), call ccc_time_write() before "
              "that\n", stderr);
        return;
    }
    FILE *file = open();
    if (!file) return;
    fprintf(file, "{\"format\": 1, \"card\": \"%s\", \"kernels\": [", device_name());
    for (const Kernel *k = s.kernels; k; k = k->next)
        fprintf(file,
                "%s\n {\"name\": \"%s\", \"launches\": %llu, \"untimed\": %llu, "
                "\"milliseconds\": %.6f}",
                k == s.kernels ? "" : ",", k->name, k->launches, k->untimed, k->milliseconds);
    fputs("]}\n", file);
    if (fclose(file) != 0) perror("ccc: no times");
}

/* Times of a program that went wrong would be taken for those of its work. */
inline void at_exit(int status, void *) {
    if (state().written) return;
    if (status == 0) write();
    else fprintf(stderr, "ccc: no times: the program ended with status %d\n", status);
}

/* Lives as long as a launch takes; begins when the launch has got its stream. */
struct Launch {
    Kernel *kernel;
    Pending *pending;
    cudaStream_t stream;

    explicit Launch(Kernel *launched) : kernel(launched), pending(0), stream(0) {}

    cudaError_t begin(cudaError_t popped, const void *place) {
        State &s = state();
        if (!kernel || popped != cudaSuccess || s.error || s.written) return popped;
        stream = *static_cast<const cudaStream_t *>(place);
        Lock lock;
        bool clean = cudaPeekAtLastError() == cudaSuccess;
        int device = 0;
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaError_t asked = cudaStreamIsCapturing(stream, &status);
        bool captured = asked == cudaErrorStreamCaptureImplicit || /* another stream's launches are */
                        (!asked && status != cudaStreamCaptureStatusNone);
        if (captured || failed(asked) || failed(cudaGetDevice(&device))) {
            if (clean) cudaGetLastError();
            kernel->untimed += captured; /* a graph may launch it any number of times */
            return popped;
        }
        if (s.pending >= 256) collect(false);
        if (s.pending >= 4096) collect(true);
        pending = take(device);
        if (pending && failed(cudaEventRecord(pending->start, stream))) pending = 0;
        return popped;
    }

    ~Launch() {
        State &s = state();
        Lock lock;
        if (!s.at_exit) {
            s.at_exit = true;
            on_exit(at_exit, 0);
        }
        if (!pending || failed(cudaEventRecord(pending->end, stream))) return;
        pending->kernel = kernel;
        pending->next = 0;
        if (!s.oldest) s.newest = &s.oldest;
        *s.newest = pending;
        s.newest = &pending->next;
        ++s.pending;
    }
};

} /* namespace ccc_timing */

extern "C" __attribute__((weak, used, visibility("default"))) void ccc_time_write(void) {
    ccc_timing::write();
}

#endif
