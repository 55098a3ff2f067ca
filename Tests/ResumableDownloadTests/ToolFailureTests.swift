#if os(Linux) || os(macOS)
import Errand
import ErrandResumableDownload
import ErrandTesting
import Foundation
import Testing

@Suite("errand-download when things go wrong", .endsInTime, .leakChecked) struct ToolFailureTests {
    private let folder: Folder
    private let film = bytes(6 << 20)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    private var url: String { origin.server.url("film.mp4") }

    @Test(
        "a signal ends the tool: the output names the signal and the kept bytes, and the next run resumes",
        arguments: [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")])
    func signals(number: Int32, name: String) async throws {
        let before = signal(number, SIG_DFL)
        signal(number, before)
        // Tests may run under nohup, and a signal that it ignores stays ignored.
        if number == SIGHUP, unsafeBitCast(before, to: Int.self) == 1 { return }
        let gate = Gate()
        origin.holdFirst(at: gate, after: 4 << 20)
        let tool = try Tool(url, folder.file("a").path, "--timeout", "600")
        try await eventually {
            try ResumableDownloadFilter.partialDownloads(in: folder.url).contains { $0.received > 1 << 20 }
        }
        kill(tool.identifier, number)
        let ended = try await tool.ended()
        #expect(ended.status == 130 && ended.text.isEmpty && !ended.wasKilled)
        #expect(ended.complaint.contains("interrupted by \(name)") && ended.complaint.contains("MiB are kept"))
        gate.open()
        #expect(try await Tool(url, folder.file("a").path).ended().status == 0)
        #expect(try folder.data("a") == film && origin.ranges.last.flatMap { $0 } != nil)
    }

    @Test("attempts, waits and restarts are shown")
    func visible() async throws {
        origin.set {
            $0.twist = { number, request, response in
                switch number {
                case 1: response.truncated(to: 3 << 20)
                case 2: .status(503, headers: ["Retry-After": "1"])
                case 3: .ranges(bytes(1000, seed: 7), etag: "\"2\"")
                default: response
                }
            }
        }
        let ended = try await Tool(url, folder.file("a").path).ended()
        #expect(ended.status == 0, "\(ended)")
        #expect(ended.complaint.contains("the connection ended early") && ended.complaint.contains("another attempt"))
        #expect(ended.complaint.contains("503 Service Unavailable; another attempt in"))
        #expect(ended.complaint.contains("starts over: the file has changed on the server"))
    }

    @Test("messages are sentences with the URL and the path, without secrets and without names of Swift")
    func sentences() async throws {
        let server = origin.server
        server.on("/gone", .status(404))
        server.on("/busy", .status(503, headers: ["Retry-After": "86400"]))
        server.on("/short", .data(film).truncated(to: 10))
        server.on("/loop", .redirect(to: "/loop"))
        server.on("/odd", .raw("HTTP/1.1 banana\r\n\r\n"))
        server.on("/silent", .data(film).stalled(afterBytes: 0))
        server.on("/gzip", .data(film).header("Content-Encoding", "br"))
        server.on("/empty", .status(204))
        let missing = folder.file("no/such/a").path
        for (arguments, status, words) in [
            (["gone?token=canary", folder.file("a").path], 2, ["404 Not Found", "/gone?token=•••", "Check the URL."]),
            (["busy", folder.file("a").path], 1, ["503 Service Unavailable", "wait for 1 day"]),
            (["short", "--tries", "1", folder.file("a").path], 1, ["the connection ended early", "6.0 MiB"]),
            (["loop", folder.file("a").path], 2, ["redirected more than 20 times"]),
            (["odd", "--tries", "1", folder.file("a").path], nil, ["/odd was not downloaded"]),
            (["silent", "--timeout", "1", "--tries", "1", folder.file("a").path], 1, ["silent for 1 s", "--timeout"]),
            (["empty", folder.file("a").path], 2, ["/empty was not downloaded"]),
            (["film.mp4", missing], 2, [folder.file("no/such").path, "does not exist"]),
            (["film.mp4", "/dev/null"], 2, ["/dev/null cannot be replaced", "device"]),
            (["film.mp4", folder.file(String(repeating: "n", count: 300)).path], 2, ["too long"]),
            (["film.mp4", "--directory", missing], 2, [missing, "create it first"]),
            (["film.mp4", "--sha256", String(repeating: "0", count: 64), folder.file("a").path], 2, ["SHA-256"]),
        ] as [([String], Int32?, [String])] {
            let ended = try await Tool(arguments: [server.url(arguments[0])] + arguments.dropFirst()).ended()
            if let status { #expect(ended.status == status, "\(arguments) \(ended)") }
            let lines = ended.complaint.split(separator: "\n").filter { $0.hasPrefix("errand-download: ") }
            #expect(lines.count == 1 && ended.text.isEmpty, "\(ended)")
            let line = lines.joined()
            for word in words { #expect(line.contains(word), "\(word) in \(line)") }
            for wrong in ["Optional(", "canary", "Error", "code:", "seconds)", "...29"] {
                #expect(!line.contains(wrong), "\(line)")
            }
            // The message must not contain a case name, such as connectionLost.
            let isCase = line.split { !$0.isLetter }.contains { word in
                word.first?.isLowercase == true && word.contains { $0.isUppercase }
            }
            #expect(!isCase, "\(line)")
        }
        for (url, status) in [("http://no-such-host.invalid/a", Int32(1)), ("http://127.0.0.1:1/a", 1)] {
            let ended = try await Tool(url, "--tries", "1", folder.file("a").path).ended()
            #expect(ended.status == status && ended.complaint.contains("\(url) was not downloaded: "), "\(ended)")
        }
        #expect(folder.names.isEmpty)
    }

    @Test("an unwritable directory and closed standard streams are reported")
    func places() async throws {
        if getuid() != 0 {
            let closed = folder.file("closed")
            try FileManager.default.createDirectory(
                at: closed, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
            let ended = try await Tool(url, "--directory", closed.path).ended()
            #expect(ended.status == 2 && ended.complaint.contains(closed.path))
            try FileManager.default.removeItem(at: closed)
        }
        for redirection in ["0<&-", ">&-", "2>&-", "0<&- >&- 2>&-"] {
            let ended = try await Tool(shell: "\"$@\" \(redirection)", url, folder.file("a").path).ended()
            #expect(ended.status == 0, "\(redirection)")
            #expect(try folder.data("a") == film && folder.names == ["a"])
        }
        for pipe in ["| true", "2>&1 >/dev/null | true"] {
            let ended = try await Tool(shell: "\"$@\" \(pipe); exit ${PIPESTATUS[0]}", url, folder.file("a").path)
                .ended()
            #expect(ended.status == 0, "\(pipe)")
            #expect(try folder.data("a") == film)
        }
        let odd = folder.file("o\nd\u{1B}[31m d$(x) ü.mp4").path
        let ended = try await Tool(url, odd).ended()
        #expect(ended.status == 0 && ended.text == odd + "\n")
        let busy = try await Tool(origin.server.url("none"), odd).ended()
        #expect(busy.status == 2 && !busy.complaint.contains("\u{1B}"))
    }
}
#endif
