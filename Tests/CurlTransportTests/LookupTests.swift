#if os(Linux)
import ErrandEssentials
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

private enum Compiler {
    static let path: String? = {
        let folders = getenv("PATH").map { String(cString: $0) } ?? ""
        let paths = folders.split(separator: ":").flatMap { ["\($0)/cc", "\($0)/clang"] }
        return paths.first { access($0, X_OK) == 0 }
    }()
}

/// Each test runs in a separate process. Lookups of names that end in ".slow.invalid" block until the program ends
/// them.
@Suite(
    "Name lookups over libcurl", .endsInTime,
    .enabled(
        if: Compiler.path != nil && Offer.leavesLookups && getenv("ERRAND_LIBCURL") == nil,
        "no C compiler, a libcurl that waits for lookups, or one that is kept apart from what is loaded before it"),
    .leakChecked)
struct LookupTests {
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <string.h>
        #include <unistd.h>
        static int running, over;
        int slow_lookups(void) { return __atomic_load_n(&running, __ATOMIC_SEQ_CST); }
        void end_slow_lookups(void) { __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST); }
        int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
            const char *slow = ".slow.invalid";
            if (name && strlen(name) > strlen(slow) && !strcmp(name + strlen(name) - strlen(slow), slow)) {
                __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
                while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) usleep(1000);
                __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
                return EAI_NONAME;
            }
            int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
            *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
            return next(name, service, hints, result);
        }
        """

    /// Runs the program with those lookups. It exits with 0 on success, otherwise with the line of the first failed
    /// check.
    private func run(_ arguments: [String]) async throws -> Program.Output {
        let folder = try Folder(["slow.c": Self.source])
        let library = folder.path("slow.so")
        let compiler = try #require(Compiler.path.flatMap { Program($0) })
        let built = try await compiler.run(["-shared", "-fPIC", "-o", library, folder.path("slow.c"), "-ldl"])
        try #require(built.status == 0, "\(built)")
        let program = try Program(built: "errand-curl-process")
        // In addition to libraries that are preloaded already, such as the library for the thread sanitizer.
        let preloaded = [library, ProcessInfo.processInfo.environment["LD_PRELOAD"]].compactMap(\.self)
        return try await program.run(arguments, environment: ["LD_PRELOAD": preloaded.joined(separator: ":")])
    }

    @Test("cancelled name lookups end immediately for their callers, and at most 64 continue")
    func bound() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        let end = try await run(["lookups", server.url(), "\(CurlLoop.maximumParked)"])
        #expect(!end.wasKilled && end.status == 0, "\(end)")
    }

    @Test("a transport that goes away while a cancelled lookup runs ends its thread")
    func retired() async throws {
        let end = try await run(["retired"])
        #expect(!end.wasKilled && end.status == 0, "\(end)")
    }
}
#endif
