#if os(Linux) || os(macOS)
import ErrandEssentials
import ErrandPlatform
import ErrandSupport

enum SystemBrowser {
    #if os(macOS)
    private static let program = "/usr/bin/open"
    #else
    private static let program = "xdg-open"
    #endif

    /// Opens a URL in the system's browser. Waits until the program that opens it ends. Throws `browserFailed` if the
    /// program is missing or fails.
    static func open(_ url: URL) async throws {
        let process = try start([program, url.absoluteString])
        let status = await withCheckedContinuation { continuation in
            let isRunning = SystemThread.start(stack: 128 << 10) { continuation.resume(returning: end(of: process)) }
            if !isRunning { continuation.resume(returning: 0) }
        }
        guard status == 0 else {
            throw OAuthError(.browserFailed, "\(program) couldn't open the page: it ended with status \(status)")
        }
    }

    // Starts a program. `strdup` allocates C strings, which are freed after the system has copied them.
    private static func start(_ arguments: [String]) throws(OAuthError) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for descriptor in Int32(0)...2 {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // Threads of the concurrency runtime block signals, and a new program would inherit this. It gets an empty
        // signal mask instead.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var list = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (list + variables).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, &list, &variables)
        guard code == 0 else {
            throw OAuthError(.browserFailed, "\(arguments[0]) couldn't be started: \(systemErrorText(code))")
        }
        return process
    }

    private static func end(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }
}
#endif
