#if os(Linux) || os(macOS)
import Foundation

/// Downloads 1 KB and 1 GB to disk with `errand-download` and with the `curl` command, in separate processes and in
/// turn. Both use the same disk, but only `errand-download` waits until the file is flushed.
enum DownloadBench {
    static func run() async throws {
        let server = try await BenchServer.start()
        guard let size = server.large,
            let curl = ["/usr/bin/curl", "/opt/homebrew/bin/curl"].first(where: {
                FileManager.default.isExecutableFile(atPath: $0)
            })
        else { return print("needs nginx and curl") }
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
            path: "errand-download")
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-bench-download-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (url, file) = (server.url + "/large", folder.appending(path: "file").path)
        try await startUp(curl, tool.path, server.url + "/kilobyte", file)
        let variants: [(name: String, program: String, arguments: [String])] = [
            ("the curl command", curl, ["-s", "-o", file, url]),
            ("errand-download", tool.path, ["--quiet", url, file]),
            ("errand-download, 4 segments", tool.path, ["--quiet", "--segments", "4", url, file]),
            ("errand-download with SHA-256", tool.path, ["--quiet", "--sha256", zeros, url, file]),
        ]
        var (rates, memory) = (Rounds(), Rounds())
        for _ in 0..<5 {
            for variant in variants {
                var peak = 0.0
                try await rates.take(variant.name) {
                    let start = ContinuousClock.now
                    peak = try spawn(variant.program, variant.arguments)
                    return Double(size) / ((ContinuousClock.now - start) / .seconds(1)) / Double(1 << 20)
                }
                await memory.take(variant.name) { peak }
                let length = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
                guard length == size else { throw Failure(status: -1) }
                try FileManager.default.removeItem(atPath: file)
                // Pending writes of this round must not slow the next one.
                sync()
            }
        }
        rates.report("MiB/s", against: variants[0].name)
        memory.report("MiB at most", against: variants[0].name)
        withExtendedLifetime(server) {}
    }

    /// Measures a process from start to exit with a small file: the minimum wall time and processor time of many
    /// rounds.
    private static func startUp(_ curl: String, _ tool: String, _ url: String, _ file: String) async throws {
        var (times, costs) = (Rounds(), Rounds())
        for _ in 0..<30 {
            for (name, program, arguments) in [
                ("the curl command, 1 KB", curl, ["-s", "-o", file, url]),
                ("errand-download, 1 KB", tool, ["--quiet", url, file]),
            ] {
                var cost = 0.0
                try await times.take(name) {
                    let (start, before) = (ContinuousClock.now, childrenTime())
                    try spawn(program, arguments, samplesMemory: false)
                    cost = childrenTime() - before
                    return (ContinuousClock.now - start) / .milliseconds(1)
                }
                await costs.take(name) { cost }
                try FileManager.default.removeItem(atPath: file)
            }
        }
        times.reportMinimum("ms", against: "the curl command, 1 KB")
        costs.reportMinimum("CPU ms", against: "the curl command, 1 KB")
    }

    /// Returns the processor time of ended child processes in milliseconds.
    private static func childrenTime() -> Double {
        var usage = rusage()
        // RUSAGE_CHILDREN; the C libraries declare it with different types.
        getrusage(-1, &usage)
        func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e3 + Double(time.tv_usec) / 1e3 }
        return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
    }

    struct Failure: Error { let status: Int32 }

    /// Returns the peak memory in MiB if `samplesMemory` is true.
    @discardableResult
    static func spawn(_ program: String, _ arguments: [String], samplesMemory: Bool = true) throws -> Double {
        var list: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { list.forEach { free($0) } }
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, nil, &list, environ)
        if code != 0 { throw Failure(status: code) }
        var status: Int32 = 0
        var peak = 0.0
        // The peak that wait4 reports includes the parent's memory from before the exec.
        while waitpid(process, &status, samplesMemory ? WNOHANG : 0) == 0 {
            peak = max(peak, residentPeak(process))
            usleep(2000)
        }
        if status != 0 { throw Failure(status: status) }
        return peak
    }

    /// Returns a process's peak memory in MiB, or 0 if the system doesn't report it.
    private static func residentPeak(_ process: pid_t) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
    }

    /// The SHA-256 of 1,000,000,000 zero bytes.
    private static let zeros = "bc17f06f9d9b5f6f79ca189a1772b1a3a38d6e40c45bec50f9c4f28144efddca"
}
#endif
