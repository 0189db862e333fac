"""What clauses promise of pointers and functions, and values for what has none."""

from __future__ import annotations

import re

import pytest
from annotated import loop

from ccc.frontend.headers import definitions, together
from ccc.frontend.marking import SourceError, mark

KERNEL = """\
__global__ void k(PARAMETERS) {
    #pragma ccc for noalias(a.x, b->y) noalias(c, d)
    for (;;) {
        #pragma ccc if
        if (x) y(a.x, b->y, c, d);
    }
}
"""


def test_pointers_that_are_told_apart() -> None:
    marked = mark(KERNEL.replace("PARAMETERS", "int n"), "k.cu").text
    pointers = re.findall(r'ccc\.apart 1 \S+ group=(\d) register=%0" :: "l"\(([^()]*)\)', marked)
    assert pointers == [("0", "a.x"), ("0", "b->y"), ("1", "c"), ("1", "d")]


@pytest.mark.parametrize(
    ("parameters", "numbers"),
    [
        ("int *__restrict__ a, int *b, const float* __restrict c = 0", "0,2"),
        ("int **__restrict__ a, int *const __restrict__ b", "1"),
        ("int (*__restrict__ f)(int), S s", None),
        ("int *a, int n", None),
        ("int *__restrict__ a, T... rest", None),
    ],
)
def test_restricted_parameters(parameters: str, numbers: str | None) -> None:
    marked = mark(KERNEL.replace("PARAMETERS", parameters), "k.cu").text
    found = re.search(r"ccc\.apart 1 \S+ restrict=(\S*?)\"", marked)
    assert (found[1].replace("=2C", ",") if found else None) == numbers


PLAIN = "__global__ void k(int *a, int n)"
RESTRICTED = "__global__ void k(int *__restrict__ a, int n)"
PARTED = RESTRICTED.replace("int n", "int\n#if A\n*\n#endif\nn")


@pytest.mark.parametrize(
    "head",
    [
        f"#ifdef A\n{PLAIN} {{\n#else\n{RESTRICTED} {{\n#endif\n",
        f"#ifdef A\n{RESTRICTED} {{\n#else\n{PLAIN} {{\n#endif\n",
        f"#ifdef A\n{PLAIN}\n#else\n{RESTRICTED}\n#endif\n{{\n",
        f"#ifdef A\n{RESTRICTED} {{\n#else\nHEAD\n#endif\n",
        f"#ifdef A\nHEAD\n#else\n{RESTRICTED} {{\n#endif\n",
        f"{PARTED} {{",
        f"#define __restrict__\n{RESTRICTED} {{",
        # comments are blanks, and lines go on
        f"/**/#if A\n{PLAIN} {{\n/**/#else\n{RESTRICTED} {{\n/**/#endif\n",
        f"/*\n*/ #if A\n{PLAIN} {{\n/*\n*/ #else\n{RESTRICTED} {{\n/*\n*/ #endif\n",
        f"#i\\\nf A\n{PLAIN} {{\n#e\\\nlse\n{RESTRICTED} {{\n#en\\\ndif\n",
        f"%:if A\n{PLAIN} {{\n%:else\n{RESTRICTED} {{\n%:endif\n",
        # macros may give what they are given in another order
        f"#define HEAD(a, b) k(b, a)\n{RESTRICTED.replace(' k', ' HEAD')} {{",
        f"#define HEAD(a, b) (b, a)\n{RESTRICTED.replace(' k', ' k HEAD')} {{",
        f"{RESTRICTED.replace('int n', 'int HEAD(b) n')} {{",
        # one macro hides a comma that parts no parameters, and another one that does
        "#define OPEN Pair<int\n#define CLOSE int>::type *x\n#define TWO int n, int m\n"
        "__global__ void k(OPEN, CLOSE, int *__restrict__ a, TWO) {",
        "#define M(k) M_##k\n#define M_a Pair<int\n"
        "#define M_b int>::type *x\n#define M_c int n, int m\n"
        "__global__ void k(M(a), M(b), int *__restrict__ a, M(c)) {",
        "#define M 2>::v, int *w, int *z\n"
        "__global__ void k(int *x, int n = V<1, int *__restrict__, M = 0, int *a = 0) {",
        "#define $ int n, int m\n__global__ void k(int *__restrict__ a, $) {",
        "#define M int n, int m\n__global__ void k(int *__restrict__ a, \\\nM) {",
        "#define \\u00e4 int n, int m\n__global__ void k(int *__restrict__ a, ä) {",
        "#define D(x) x\n__global__ D(int g(); __device__ void) k(int *__restrict__ a, int n) {",
        "#define D(x) x\n__global__ D(void) k(int *__restrict__ a, int n) {",
        f"#define __global__ __attribute__((device))\n{RESTRICTED} {{",
        # of a pointer to pointers another one is restricted
        "#define OF *a\n__global__ void k(int *__restrict__ OF, int *b) {",
        # a macro before the name makes that of another function
        "#define RET void k(int *a, int n) { } __device__ void\n"
        "__global__ RET k(int *__restrict__ a, int n) {",
    ],
)
def test_a_head_that_a_preprocessor_may_leave_out_promises_nothing(head: str) -> None:
    text = KERNEL.replace("__global__ void k(PARAMETERS) {", head)
    assert head in text
    macros = {"HEAD": "(a) a"} | together(definitions([text], []))
    assert "restrict=" not in mark(text, "k.cu", macros=macros).text


def test_a_kernel_whose_head_a_preprocessor_may_leave_out_promises_nothing() -> None:
    head = f"#ifdef A\n{PLAIN} {{\n#else\n#pragma ccc grid_stride\n{RESTRICTED} {{\n#endif\n"
    text = f"{head}    #pragma ccc if\n    if (n > 0) {{ a[n] = 1; }}\n}}\n"
    assert "ccc.grid_stride" in mark(text, "k.cu", macros={}).text
    assert "restrict=" not in mark(text, "k.cu", macros={}).text


@pytest.mark.parametrize(
    "around", ["#ifdef A\nBOTH\n#else\nBOTH\n#endif\n", "#if A\n#endif\nBOTH", "BOTH"]
)
def test_a_head_that_is_left_out_with_its_body_promises(around: str) -> None:
    both = KERNEL.replace("PARAMETERS", "int *__restrict__ a, int n")
    text = around.replace("BOTH", both.replace(" {\n", " {\n#ifdef A\n#else\n#endif\n", 1))
    assert "restrict=0 of=2" in mark(text, "k.cu", macros={}).text


def test_restricted_parameters_are_counted_where_a_macro_may_stand_for_several() -> None:
    text = KERNEL.replace("PARAMETERS", "COMMON, int *__restrict__ a, COMMON *b")
    assert " restrict=1 of=3" in mark(text, "k.cu", macros={"OTHER": " int n, int m"}).text
    assert ' restrict=1"' in mark(text, "k.cu").text


def test_macros_that_stand_for_words_hide_no_parameters() -> None:
    defined = '#define API extern "C" __launch_bounds__(64)\n#define real float\n'
    kernel = KERNEL.replace("PARAMETERS", "real *__restrict__ a, real *b, real n")
    text = f"{defined}#define CONST const real\n{kernel.replace('__global__', 'API __global__')}"
    macros = together(definitions([text], ["-Dindex=unsigned int"]))
    assert macros["index"] == "\nunsigned int"
    assert " restrict=0 of=3" in mark(text, "k.cu", macros=macros).text
    by_another = text.replace("real *b", "CONST *b")
    assert "restrict=" not in mark(by_another, "k.cu", macros=macros).text


def test_a_comment_makes_no_kernel_of_a_function() -> None:
    text = KERNEL.replace("PARAMETERS", "int *__restrict__ a /* in __global__ memory */")
    assert "restrict=0" in mark(text, "k.cu").text
    assert "restrict=" not in mark(text.replace("__global__ void", "__device__ void"), "k.cu").text


@pytest.mark.parametrize(
    ("declaration", "pointer"),
    [
        ("extern __device__ float f(float x);", "float (*ccc_callable_1)(float x) = f;"),
        (
            'extern "C" __device__ const S *f(int a = g(1, 2), S s = S()) noexcept;',
            "const S * (*ccc_callable_1)(int a, S s) = f;",
        ),
        ("static __device__ __noinline__ void f();", "void (*ccc_callable_1)() = f;"),
    ],
)
def test_functions_of_other_files(declaration: str, pointer: str) -> None:
    text = "#pragma ccc callable\n" + declaration
    marked = mark(f"{text}\n{KERNEL}", "k.cu").text
    assert f"{declaration} __attribute__((device)) {pointer}\n" in marked
    assert "callable_" not in mark(f"{text}\n", "k.cu").text


@pytest.mark.parametrize(
    "declaration",
    [
        "__device__ int f(int), g(int);",
        "template <class T> __device__ T f(T);",
        "struct S {\n    __device__ int f();\n};",
        "__device__ int f;",
        "__device__ int f(int x) { return x; }",
        "template <class... T> struct S;\n__device__ void f(S<int> x...);",
    ],
)
def test_what_is_no_function_of_another_file(declaration: str) -> None:
    where = "    __device__" if declaration.startswith("struct") else declaration.splitlines()[-1]
    text = declaration.replace(where, f"#pragma ccc callable\n{where}")
    with pytest.raises(SourceError, match=r"no declaration of one function|; put it on the line"):
        mark(f"{text}\n{KERNEL}", "k.cu")


def test_a_function_of_the_host_can_be_called_in_no_path() -> None:
    """Where macros are not expanded, __device__ may be one, or need not be said."""
    text = f"#pragma ccc callable\nextern int f(int);\n{KERNEL}"
    with pytest.raises(SourceError, match=r'k\.cu:1:1: error: .*; write "__device__" before it'):
        mark(text, "k.cu")
    mark(text, "k.cu", macros={"DEVICE": ""})


FRESH = (
    "if (__has_trivial_constructor(__typeof__(v)) && sizeof(v) <= 64)"
    " __builtin_memset((void *)__builtin_addressof(v), 0, sizeof(v));"
)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("float v;", "v = 0;"),
        ("unsigned long long v, w = 2, *p, a[3];", "v = 0; p = 0;"),
        ("float4 v;", FRESH),
        ("ns::Hit<int> v;", FRESH),
        ("Hit *v;", ""),  # or a product
        ("Hit v{}, w(3), f();", ""),
        ("const Hit v;", ""),
        ("__shared__ float v;", ""),
        ("static __attribute__((shared)) float v;", ""),
        ("volatile int v;", ""),
        ("extern int v;", ""),
        ("Hit &v = w;", ""),
        ("struct { int v; } w = {};", ""),
        ("int f(int v);", ""),
        ("auto f = [](int a) { Hit v; v.a = a; return v.a; };", ""),  # perhaps for a constant
    ],
)
def test_what_an_iteration_declares_gets_a_value(declaration: str, expected: str) -> None:
    body = f"{declaration}/*@*/\n#pragma ccc if\nif (x[i]) x[i]++;"
    marked = mark(loop(body), "k.cu", values=(1, 2)).text
    (line,) = [line for line in marked.split("\n") if "/*@*/" in line]
    assert line.removeprefix(declaration).removesuffix("/*@*/").strip() == expected


def test_what_is_declared_elsewhere_gets_no_value() -> None:
    kernel = loop("#pragma ccc if\nif (x[i]) x[i] = f(i);").replace("{\n#", "{\nint v;\n#", 1)
    called = "__device__ int f(int i) { int a; return g(i, &a) ? a : 0; }\n"
    others = "constexpr int g(int i, int *a) { int b; return i; }\n__device__ int h() { int c; }\n"
    marked = mark(called + others + kernel, "k.cu", values=(1, 2)).text
    assert re.findall(r"\w+ = 0;", marked.replace("int i = 0;", "")) == ["a = 0;"]


def test_a_name_that_may_be_a_macro_gets_no_value() -> None:
    body = "float v;\nfloat W;\nHit h;\n#pragma ccc if\nif (x[i]) { x[i]++; }"
    marked = mark(loop(body), "k.cu", macros={"W": ""}, values=(1, 2)).text
    assert "float v; v = 0;\nfloat W;\nHit h;\n" in marked
