#if os(Linux) || os(macOS)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The steps that a new process takes before exec. Destroy it exactly once.
struct SpawnActions {
    #if canImport(Darwin)
    private var actions: posix_spawn_file_actions_t?
    private var attributes: posix_spawnattr_t?
    #else
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
    #endif

    init() {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        // Threads of the concurrency runtime block signals, and a child would inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        #if canImport(Darwin)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT))
        #else
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        #endif
    }

    mutating func open(_ descriptor: Int32, _ path: String, _ flags: Int32) {
        posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o600)
    }

    mutating func copy(_ descriptor: Int32, as other: Int32) {
        posix_spawn_file_actions_adddup2(&actions, descriptor, other)
    }

    /// The first argument is the program's path.
    mutating func spawn(_ arguments: [String], _ environment: [String]) throws -> pid_t {
        #if !canImport(Darwin)
        // A long-lived program would hold open the sockets that other tests close.
        for descriptor in Int32(3)..<4096 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        #endif
        var list = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { (list + variables).forEach { free($0) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, arguments[0], &actions, &attributes, &list, &variables)
        guard code == 0 else { throw Program.Failure(what: "\(arguments[0]): error \(code)") }
        return process
    }

    mutating func destroy() {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }
}
#endif
