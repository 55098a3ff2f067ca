#if os(Linux) || os(macOS)
import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import errand_download

@Suite("errand-download from day to day", .endsInTime, .leakChecked) struct ToolDailyUseTests {
    private let folder: Folder
    private let film = bytes(300_000)
    private let server: TestServer

    init() throws {
        folder = try Folder()
        server = try TestServer()
        server.on("/film.mp4", .ranges(film, etag: "\"1\"").header("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"))
    }

    private var url: String { server.url("film.mp4") }

    private func busyOnce(_ path: String) {
        let count = Mutex(0)
        let film = film
        server.on(path) { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst ? .status(503) : .data(film)
        }
    }

    private func run(_ arguments: String..., input: String? = nil, environment: [String: String] = [:]) async throws
        -> Program.Output
    {
        try await Tool(arguments: arguments, in: folder.url, input: input, environment: environment).ended()
    }

    /// Returns a path as a process receives it from the system.
    private func path(_ name: String) -> String { folder.file(name).resolvingSymlinksInPath().path }

    @Test("without a destination, the server or the final URL names the file, and no file is replaced")
    func names() async throws {
        server.on("/get", .redirect(to: "/film.mp4"))
        server.on("/named", .data(film).header("Content-Disposition", "attachment; filename=\"../../etc/a b.mp4\""))
        #expect(try await run(server.url("get"), "--quiet").text == path("film.mp4") + "\n")
        #expect(try await run(server.url("named?token=canary")).status == 0)
        #expect(try folder.data("film.mp4") == film && folder.data("a b.mp4") == film)
        try Data("mine".utf8).write(to: folder.file("film.mp4"))
        #expect(try await run(url).text.hasSuffix("/film (2).mp4\n"))
        #expect(try String(decoding: folder.data("film.mp4"), as: UTF8.self) == "mine")
        let requests = server.requestCount
        let skipped = try await run("--no-clobber", url)
        #expect(skipped.status == 0 && skipped.complaint.contains("left alone") && server.requestCount == requests)
        #expect(try await run("--overwrite", url).status == 0)
        #expect(try folder.data("film.mp4") == film && folder.names == ["a b.mp4", "film (2).mp4", "film.mp4"])
    }

    @Test("several URLs from the command line, a file and standard input are downloaded, up to the concurrency limit")
    func several() async throws {
        let gates = (0..<3).map { _ in Gate() }
        for (index, gate) in gates.enumerated() { server.on("/\(index).bin", .data(film).waiting(for: gate)) }
        let urls = (0..<3).map { server.url("\($0).bin") }
        try Data("# films\n\(urls[1])\n\n\(urls[2])\n\(urls[1])\n".utf8).write(to: folder.file("list"))
        let tool = try Tool(
            arguments: [urls[0], "--input", "list", "--parallel", "2", "--timeout", "600"], in: folder.url)
        _ = try await server.wait(forRequests: 2)
        #expect(server.requestCount == 2)
        gates[0].open()
        _ = try await server.wait(forRequests: 3)
        gates[1...].forEach { $0.open() }
        let ended = try await tool.ended()
        #expect(ended.status == 0 && ended.text.split(separator: "\n").count == 3 && server.requestCount == 3)
        #expect(ended.complaint.contains("0.bin: 100%") && folder.names == ["0.bin", "1.bin", "2.bin", "list"])
        let mixed = try await run("--input", "-", ".", input: "\(server.url("none"))\n\(url)\n")
        #expect(mixed.status == 2 && mixed.text.hasSuffix("/film.mp4\n") && mixed.complaint.contains("404 Not Found"))
        let wrong = try await run("--input", "-", input: "\(url)\nfilm.mp4\n")
        #expect(wrong.status == 2 && wrong.complaint.contains("standard input, line 2: film.mp4"))
        let noDirectory = try await run(url, urls[0], "list")
        #expect(noDirectory.status == 2 && noDirectory.complaint.contains(path("list") + " isn't one"))
    }

    @Test("only the bytes are written to standard output, and a reader that closes it ends the program quietly")
    func standardOutput() async throws {
        let got = folder.file("got").path
        for arguments in [[url, "-"], ["-o", "-", url], ["--json", url, "-"]] {
            let tool = try Tool(arguments: arguments, in: folder.url)
            let ended = try await tool.ended()
            #expect(ended.status == 0 && ended.bytes == film && folder.names.isEmpty, "\(arguments)")
        }
        #expect(try await run("--json", url, "-").complaint.contains(#""event":"finished""#))
        busyOnce("/twice")
        let again = try await run(server.url("twice"), "-")
        #expect(again.status == 0 && again.complaint.contains("503 Service Unavailable; another attempt"))
        server.on("/endless", .repeating(count: 64 << 20))
        let head = try await Tool(
            shell: "\"$1\" --quiet \"$2\" - | head -c 10 >\"$3\"; exit ${PIPESTATUS[0]}", server.url("endless"), got
        ).ended()
        #expect(head.status == 141 && head.complaint.isEmpty)
        #expect(try folder.data("got").count == 10)
        if FileManager.default.fileExists(atPath: "/dev/full") {
            let full = try await Tool(shell: "\"$@\" - >/dev/full", url).ended()
            #expect(full.status == 2 && full.complaint.contains("No space left"))
        }
    }

    @Test("JSON output has one object per line from start to end, including retries and failures")
    func json() async throws {
        busyOnce("/busy")
        let ended = try await run("--json", url, server.url("none?token=canary"), server.url("busy"))
        #expect(ended.status == 2 && !(ended.text + ended.complaint).contains("canary"))
        let events = try ended.text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        for (index, wanted) in [
            ["start", "progress", "finished"], ["start", "failed"], ["start", "retry", "progress", "finished"],
        ].enumerated() {
            let mine = events.filter { $0["index"] as? Int == index + 1 }.compactMap { $0["event"] as? String }
            #expect(mine.first == "start" && mine.last == wanted.last, "\(mine)")
            for event in wanted { #expect(mine.contains(event), "\(event) in \(mine)") }
        }
        let finished = try #require(events.first { $0["event"] as? String == "finished" && $0["index"] as? Int == 1 })
        #expect(finished["path"] as? String == path("film.mp4") && finished["size"] as? Int == film.count)
        #expect(events.last?["event"] as? String == "end" && events.last?["complete"] as? Int == 2)
        #expect(events.last?["failed"] as? Int == 1 && events.last?["status"] as? Int == 2)
    }

    @Test("credentials from the URL, --user, netrc and headers reach the server, and don't appear in output")
    func secrets() async throws {
        server.on("/closed", .basicAuth(user: "me", password: "canary", then: .data(film)))
        let closed = server.url("closed")
        let withUser = closed.replacingOccurrences(of: "://", with: "://me:canary@")
        try Data("machine 127.0.0.1 login me password \"canary\"\n".utf8).write(to: folder.file(".netrc"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file(".netrc").path)
        let home = ["HOME": folder.url.path]
        for arguments in [[withUser], ["-u", "me:canary", closed], ["-n", closed], ["-n", "-u", "me", closed]] {
            let ended = try await Tool(arguments: arguments + ["a"], in: folder.url, environment: home).ended()
            #expect(ended.status == 0, "\(arguments.first ?? "") \(ended)")
            #expect(!(ended.text + ended.complaint).contains("canary"))
            #expect(ended.complaint.contains("chmod 600") == arguments.contains("-n"))
        }
        let refused = try await run(
            "-u", "me:wrong-canary", withUser.replacingOccurrences(of: "me:", with: "you:"), "b")
        #expect(
            refused.status == 2 && refused.complaint.contains("401 Unauthorized")
                && refused.complaint.contains("--user"))
        #expect(!refused.complaint.contains("canary") && !folder.names.contains("b"))
        #expect(try await run("--netrc-file", "nowhere", url).complaint.contains("nowhere cannot be read"))
        #expect(try await Tool(shell: "unset HOME; \"$@\"", url, path("c")).ended().status == 0)
    }

    #if os(Linux)
    @Test("a missing password without a terminal prints a message, without waiting")
    func noTerminal() async throws {
        let ended = try await Tool(shell: "setsid -w \"$@\"", "-u", "me", url).ended()
        #expect(ended.status == 2 && ended.complaint.contains("there is no terminal to ask on"))
        #expect(server.requestCount == 0)
    }
    #endif

    @Test("the server's date is set on request")
    func remoteTime() async throws {
        #expect(try await run("-R", url, "old").status == 0)
        #expect(try await run(url, "new").status == 0)
        func date(_ name: String) throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: folder.file(name).path)[.modificationDate] as? Date
        }
        #expect(try date("old") == Date(timeIntervalSince1970: 784_111_777))
        #expect(try date("new") != date("old"))
        server.on("/dateless", .data(film))
        #expect(try await run("-R", server.url("dateless")).complaint.contains("sends no date"))
    }

    #if os(Linux)
    @Test("a proxy is used, or not, as configured")
    func proxy() async throws {
        let proxy = try TestServer()
        proxy.on("*film.mp4", .data(bytes(1000)))
        #expect(try await run("-x", proxy.url, url, "a").status == 0)
        #expect(proxy.requestCount == 1 && server.requestCount == 0)
        #expect(try await run("-x", proxy.url, "--no-proxy", "127.0.0.1", url, "b").status == 0)
        let environment = ["http_proxy": proxy.url]
        #expect(try await run(url, "c", environment: environment).status == 0 && proxy.requestCount == 2)
        #expect(try await run("--no-proxy", "*", url, "d", environment: environment).status == 0)
        #expect(proxy.requestCount == 2 && server.requestCount >= 2)
        let dead = try await run("-x", "http://me:canary@127.0.0.1:1", "--tries", "1", url, "e")
        #expect(dead.status == 1 && !dead.complaint.contains("canary"))
    }

    @Test("a file of authorities is read before anything is sent")
    func authorities() async throws {
        try Data("no certificate".utf8).write(to: folder.file("ca.pem"))
        #expect(try await run("--cacert", "nowhere.pem", url).complaint.contains("nowhere.pem cannot be read"))
        let wrong = try await run("--cacert", "ca.pem", url)
        #expect(wrong.status == 2 && wrong.complaint.contains("ca.pem has no certificate") && server.requestCount == 0)
    }
    #endif

    @Test("a rate limit doesn't change the bytes, and slows down the source")
    func rate() async throws {
        #expect(try await run("--limit-rate", "8M", url, "a").status == 0)
        #expect(try folder.data("a") == film)
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: server.url, transport: Wire.system.transport, time: time)
        let fetch = StreamJob.Fetch(
            path: "film.mp4", headers: [:], authorization: nil, timeout: nil, deadline: nil,
            filters: [RateLimit(bytesPerSecond: 100_000)])
        let isRead = Mutex(false)
        let reading = Task {
            defer { isRead.withLock { $0 = true } }
            return try await agent.send(fetch).value.collect(upTo: 1 << 20)
        }
        let start = time.now
        while !isRead.withLock({ $0 }) {
            // A later wake-up is the transport's timeout.
            if let wake = time.nextWake, time.now.duration(to: wake) < .seconds(1) { time.advance(to: wake) }
            await Task.yield()
        }
        #expect(try await reading.value == film)
        #expect((2.999...3.001).contains(start.duration(to: time.now) / .seconds(1)))
    }
}
#endif
