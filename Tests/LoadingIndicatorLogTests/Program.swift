#if os(Linux)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program of the system or of this package, run with a limit of time. Not Foundation's `Process`: that waits for
/// whatever inherits its socket, such as a server that a program leaves behind.
struct Program: Sendable {
    let path: String

    /// Nil if it is not installed.
    init?(_ name: String) {
        let places = ["/usr/bin", "/usr/local/bin", "/bin"].map { "\($0)/\(name)" }
        guard let path = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        self.path = path
    }

    /// One of this package's, beside the tests.
    init(built name: String) throws {
        let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        path = tests.deletingLastPathComponent().appending(path: name).path
    }

    struct Output: Sendable {
        let status: Int32
        let text: String
        let complaint: String
    }

    struct Failure: Error { let what: String }

    /// Runs it to its end, or kills it after `limit`.
    @concurrent func run(_ arguments: [String], input: String = "/dev/null", limit: Duration = .seconds(60))
        async throws
        -> Output
    {
        let files = ["out", "err"].map { "\(NSTemporaryDirectory())/errand-program-\(UUID().uuidString)-\($0)" }
        defer { files.forEach { unlink($0) } }
        var list: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { list.forEach { free($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, files[0], O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, files[1], O_WRONLY | O_CREAT, 0o600)
        // A server that stays would hold open the sockets that other tests close.
        for descriptor in Int32(3)..<4096 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var process: pid_t = 0
        guard posix_spawn(&process, path, &actions, nil, &list, environ) == 0 else { throw Failure(what: path) }
        let end = ContinuousClock.now + limit
        var status: Int32 = 0
        // Nobody tells when a process of another parent's making has ended: look now and then.
        while waitpid(process, &status, WNOHANG) == 0 {
            if ContinuousClock.now > end {
                kill(process, SIGKILL)
                waitpid(process, &status, 0)
                throw Failure(what: "\(path) took longer than \(limit)")
            }
            usleep(5000)
        }
        let texts = try files.map { String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self) }
        return Output(status: status, text: texts[0], complaint: texts[1])
    }
}
#endif
