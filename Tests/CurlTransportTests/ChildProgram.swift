#if os(Linux)
import ErrandEssentials
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program of this package in a process of its own, which is killed when it does not end.
enum ChildProgram {
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
        /// It was still running after a minute, and was killed.
        case hung
    }

    /// Runs `errand-curl-process`, with a library that comes before the system's if one is named.
    static func run(_ arguments: [String], preloading library: String? = nil) async throws -> End {
        var path = [CChar](repeating: 0, count: 4096)
        try #require(readlink("/proc/self/exe", &path, path.count - 1) > 0)
        let tests = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let program = tests.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/errand-curl-process"
        let preload = library.map { ["LD_PRELOAD=\($0)"] } ?? []
        let process = try Nginx.spawn("/usr/bin/env", preload + [program] + arguments)
        let bound = ContinuousClock.now + .seconds(60)
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            if ContinuousClock.now > bound {
                kill(process, SIGKILL)
                waitpid(process, &status, 0)
                return .hung
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}
#endif
