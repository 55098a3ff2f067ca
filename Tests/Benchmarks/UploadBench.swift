#if os(Linux) || os(macOS)
import Errand
import ErrandTestPrograms
import ErrandTesting
import Foundation

/// Uploads a 1 GB file in a form with `errand-upload-process` and with `curl -F`, in separate processes and in turn, to
/// a server that counts the bytes and drops them. Then compares `errand-upload`, which can resume, with `curl -T`.
enum UploadBench {
    static func run() async throws {
        guard
            let curl = ["/usr/bin/curl", "/opt/homebrew/bin/curl"].first(where: {
                FileManager.default.isExecutableFile(atPath: $0)
            })
        else { return print("needs curl") }
        let size = 1_000_000_000
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-bench-upload-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file").path
        // A sparse file: both programs read it from memory.
        try Data().write(to: URL(filePath: file))
        truncate(file, off_t(size))
        let server = try TestServer()
        server.on("/upload", .status(204), reading: .discarded)
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
            path: "errand-upload-process")
        let url = server.url + "/upload"
        let variants: [(name: String, program: String, arguments: [String])] = [
            ("1 GB multipart from a file: curl -F", curl, ["-s", "-F", "title=Sea", "-F", "file=@\(file)", url]),
            ("1 GB multipart from a file: Errand", tool.path, [server.url, "form", file]),
            ("1 GB from a file: curl -T", curl, ["-s", "-X", "POST", "-H", "Expect:", "-T", file, url]),
            ("1 GB from a file: Errand", tool.path, [server.url, "file", file]),
        ]
        var (rates, memory) = (Rounds(), Rounds())
        for _ in 0..<5 {
            for variant in variants {
                var peak = 0.0
                try await rates.take(variant.name) {
                    let start = ContinuousClock.now
                    peak = try DownloadBench.spawn(variant.program, variant.arguments)
                    return Double(size) / ((ContinuousClock.now - start) / .seconds(1)) / Double(1 << 20)
                }
                await memory.take(variant.name) { peak }
                guard let last = server.received.last, last.bodyLength >= Int64(size) else {
                    throw DownloadBench.Failure(status: -1)
                }
            }
        }
        rates.report("MiB/s", against: variants[0].name)
        memory.report("MiB at most", against: variants[0].name)
        try await resumable(curl, file, size, folder)
    }

    /// Compares both on a server that passes each piece to the origin's code.
    private static func resumable(_ curl: String, _ file: String, _ size: Int, _ folder: URL) async throws {
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "errand-upload")
        let small = folder.appending(path: "small").path
        try Data([1]).write(to: URL(filePath: small))
        var (rates, memory) = (Rounds(), Rounds())
        for _ in 0..<5 {
            let origin = try UploadOrigin(.draft(8), keeps: false)
            let (url, state) = (origin.url + "/files", folder.appending(path: "state").path)
            let options = ["--quiet", "--state", state]
            let variants: [(name: String, program: String, arguments: [String], size: Int)] = [
                ("1 GB from a file: curl -T", curl, ["-s", "-X", "POST", "-H", "Expect:", "-T", file, url], size),
                ("1 GB that resumes: errand-upload", tool.path, options + [file, url], size),
                ("1 byte: errand-upload", tool.path, options + [small, url], 1),
            ]
            for variant in variants {
                let start = ContinuousClock.now
                let peak = try DownloadBench.spawn(variant.program, variant.arguments)
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                if variant.size == size { await rates.take(variant.name) { Double(size) / seconds / Double(1 << 20) } }
                await memory.take(variant.name) { peak }
            }
        }
        rates.report("MiB/s", against: "1 GB from a file: curl -T")
        memory.report("MiB at most", against: "1 byte: errand-upload")
    }
}
#endif
