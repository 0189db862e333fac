/* Stands in for libcudart where there is no GPU: a program that was compiled with --ccc-profile or
 * --ccc-time runs, its kernels do nothing, and its counters hold what FAKE_COUNTS says. The first
 * launch takes one millisecond, the next two, and so on; FAKE_CAPTURE: they go into a graph;
 * FAKE_NO_GPU: there is none to capture anything.
 *
 * Like the real one it takes leave, for good, in a handler that it signs up when it is first used:
 * whoever calls it later than that at the program's end gets an error. */
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_READY = 600, UNLOADING = 4, NO_DEVICE = 100, BAD_SYMBOL = 13, COPIES = 32, MOST = 64 };

static struct { const void *host; unsigned long long words[4]; } variables[MOST];
static int known, used, gone;

static void leave(void) { gone = 1; }

static int use(void) {
    if (!used) atexit(leave);
    used = 1;
    return gone ? UNLOADING : OK;
}

void **__cudaRegisterFatBinary(void *binary) { (void)binary; return (void **)&known; }
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; gone = 1; }
void __cudaRegisterFunction(void) {}
char __cudaInitModule(void **handle) { (void)handle; return 0; }

/* FAKE_TABLE is the table of every module, and FAKE_COUNTS how many counters it has. */
void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int external,
                       size_t size, int constant, int global) {
    (void)handle, (void)address, (void)external, (void)constant, (void)global;
    if (!strstr(name, "ccc_profile") || size != 32 || known == MOST) return;
    unsigned long long count = strtoull(getenv("FAKE_COUNTS"), 0, 10);
    unsigned long long *counters = malloc(8 * COPIES * count);
    for (unsigned long long i = 0; i < count * COPIES; ++i) counters[i] = i / COPIES + 1;
    char *table = strdup(getenv("FAKE_TABLE"));
    unsigned long long words[] = {(unsigned long long)counters, count, (unsigned long long)table,
                                  strlen(table)};
    variables[known].host = host;
    memcpy(variables[known++].words, words, sizeof words);
}

unsigned __cudaPushCallConfiguration(void) { return 0; }
int __cudaPopCallConfiguration(void) { return OK; }
int __cudaGetKernel(void **kernel, const void *host) { *kernel = (void *)host; return use(); }
static int launches;
int __cudaLaunchKernel(void) { ++launches; return use(); }
int cudaLaunchKernel(void) { ++launches; return use(); }
int cudaGetDevice(int *device) { *device = 0; return use(); }
int cudaSetDevice(int device) { return device ? 101 : use(); }
int cudaDeviceSynchronize(void) { return use(); }
const char *cudaGetErrorString(int error) { return error == UNLOADING ? "unloading" : "error"; }

int cudaDeviceReset(void) {
    for (int i = 0; i < known; ++i)
        memset((void *)variables[i].words[0], 0, 8 * COPIES * variables[i].words[1]);
    return use();
}

/* Events know how many launches there were before; all launches together, in milliseconds. */
int cudaEventCreate(void **event) { *event = malloc(sizeof(int)); return use(); }
int cudaEventRecord(void *event, void *stream) { (void)stream; *(int *)event = launches; return use(); }
int cudaEventQuery(void *event) { (void)event; return use() ? UNLOADING : launches % 2 ? NOT_READY : OK; }
int cudaEventSynchronize(void *event) { (void)event; return use(); }
int cudaEventElapsedTime(float *spent, void *start, void *end) {
    int first = *(int *)start, last = *(int *)end;
    *spent = (last * (last + 1) - first * (first + 1)) / 2;
    return use();
}
int cudaStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = getenv("FAKE_CAPTURE") != 0;
    return getenv("FAKE_NO_GPU") ? NO_DEVICE : use();
}
int cudaPeekAtLastError(void) { return OK; }
int cudaGetLastError(void) { return OK; }
int cudaGetDeviceProperties(char *properties, int device) {
    (void)device;
    strcpy(properties, "a card"); /* its name comes first */
    return use();
}

int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes) {
    for (int i = 0; i < known; ++i)
        if (variables[i].host == symbol) {
            memcpy(to, variables[i].words, bytes);
            return use();
        }
    return BAD_SYMBOL;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    (void)kind;
    memcpy(to, from, bytes);
    return use();
}
