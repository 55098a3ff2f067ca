import Errand
import ErrandCookies
import ErrandTesting
import Foundation
import Testing

@Suite("Files of cookies", .endsInTime, .leakChecked) struct FileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "cookies.txt") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    @Test("a jar in a file is written with the changes of a response, for its owner only, and read again")
    func roundTrip() async throws {
        defer { remove() }
        let response = StubResponse.text("ok").header(.setCookie, "s=1; HttpOnly; Domain=shop.example; Path=/")
            .header(.setCookie, "t=2; Secure; Max-Age=60").header(.setCookie, "u=3")
        let jar = try CookieJar(file: file, at: epoch)
        let agent = NetworkAgent(
            baseURL: "https://www.shop.example/a/", transport: .stub(response), filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        try await agent.send(Call<Void>(.get, "x"))
        try await jar.save(at: epoch)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.contains("\t") }
        #expect(
            lines == [
                "#HttpOnly_.shop.example\tTRUE\t/\tFALSE\t0\ts\t1",
                "www.shop.example\tFALSE\t/a\tTRUE\t1000000060\tt\t2",
                "www.shop.example\tFALSE\t/a\tFALSE\t0\tu\t3",
            ])
        let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies.txt"])
        let again = try CookieJar(file: file, at: epoch)
        #expect(again.cookies == jar.cookies)
        #expect(try CookieJar(file: file, droppingSessionCookies: true, at: epoch).cookies.map(\.name) == ["t"])
        #expect(try CookieJar(file: file, at: epoch + 60).cookies.map(\.name) == ["s", "u"])
    }

    @Test("curl's files are read: comments, a missing value, line ends of Windows; invalid lines are skipped")
    func curlsFile() async throws {
        defer { remove() }
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            #HttpOnly_.example.com\tTRUE\t/\tTRUE\t0\tsession\tabc
            example.com\tFALSE\t/a\tFALSE\t1000000060\tempty
            www.example.com\tFALSE\t/\tFALSE\t1000000060\tvalue\tb c\r
            example.com\tFALSE\t/\tFALSE\t999999999\tgone\tx
            example.com\tFALSE\t/\tFALSE\t-1\tnegative\tx
            example.com\tFALSE\t/\tFALSE\tsoon\tword\tx
            com\tTRUE\t/\tFALSE\t0\tsuffix\tx
            example.com\tFALSE\tnopath\tFALSE\t0\tpath\tx
            .example.com\tTRUE\t/\tFALSE\t0\t__Secure-x\tnot secure
            .example.com TRUE / FALSE 0 spaces x
            a\tb
            .example.com\tTRUE\t/\tFALSE\t99999999999999\tlong\tx
            """
        try Data(text.utf8).write(to: file)
        let jar = CookieJar()
        #expect(try await jar.load(curlFile: file, at: epoch) == 5)
        #expect(jar.cookies.map(\.name) == ["session", "empty", "value", "suffix", "long"])
        try #require(jar.count == 5)
        #expect(jar.cookies[0].isHTTPOnly && jar.cookies[0].isSecure && !jar.cookies[0].isHostOnly)
        #expect(jar.cookies[1].isHostOnly && jar.cookies[1].value.isEmpty && jar.cookies[2].value == "b c")
        #expect(jar.cookies[3].isHostOnly && jar.cookies[4].expiry == epoch + 400 * 86_400)
    }

    #if os(Linux) || os(macOS)
    @Test(
        "curl sends the cookies that a jar writes, and a jar sends curl's",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
    func curl() async throws {
        defer { remove() }
        let server = try TestServer()
        server.on("/echo") { .text($0.headers[.cookie] ?? "none") }
        server.on("/set", .text("").header(.setCookie, "fromcurl=1; Path=/; HttpOnly"))
        let jar = CookieJar()
        jar.set("b=2; Path=/", from: server.url + "/x")
        jar.set("a=1 2; Path=/echo; Max-Age=1000", from: server.url + "/x", at: Date())
        try await jar.write(curlFile: file)
        #expect(try Self.curl("-s", "-b", file.path, server.url + "/echo") == "a=1 2; b=2")
        _ = try Self.curl("-s", "-b", file.path, "-c", file.path, server.url + "/set")
        let again = try CookieJar(file: file)
        #expect(Set(again.cookies.map(\.name)) == ["a", "b", "fromcurl"])
        #expect(again.cookies.first { $0.name == "fromcurl" }?.isHTTPOnly == true)
    }

    private static func curl(_ arguments: String...) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments = ["--noproxy", "*"] + arguments
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
    #endif

    @Test("a path that isn't a file throws; an unwritable folder doesn't fail a request, but makes save throw")
    func faults() async throws {
        defer { remove() }
        let error = #expect(throws: CookieFileError.self) { try CookieJar(file: folder) }
        #expect(error?.isReading == true && error?.errorCode == 1 && error?.path == folder.path)
        // A file that can't be reached isn't an empty one.
        try Data("x".utf8).write(to: file)
        let long = String(repeating: "x", count: 300)
        for path in [file.appending(path: "cookies.txt"), folder.appending(path: long)] {
            #expect(throws: CookieFileError.self) { try CookieJar(file: path) }
        }
        let lost = try CookieJar(file: folder.appending(path: "missing/cookies.txt"))
        let agent = NetworkAgent(
            baseURL: "https://x.example", transport: .stub(.text("ok").header(.setCookie, "a=1")),
            filters: [.cookies(lost)])
        #expect(try await agent.send(Call<String>(.get, "")).value == "ok" && lost.count == 1)
        let writing = await #expect(throws: CookieFileError.self) { try await lost.save() }
        #expect(writing?.errorCode == 2)
    }

    @Test("a cookie in Latin-1 is read from the file, and written to another, with the server's bytes")
    func latin1() async throws {
        defer { remove() }
        var line = Data("x.example\tFALSE\t/\tFALSE\t0\tname\tZo".utf8)
        line.append(0xEB)
        try line.write(to: file)
        let jar = try CookieJar(file: file)
        #expect(jar.cookies.first?.value == "Zo\u{EB}")
        let copy = folder.appending(path: "copy.txt")
        try await jar.write(curlFile: copy)
        #expect(try Data(contentsOf: copy).range(of: line) != nil)
    }

    @Test(
        "the longest possible ages from a policy, a server and an app don't crash a jar, or damage its file",
        arguments: [
            Duration.seconds(Int64.max), .seconds(1e15), .seconds(60), .zero, .seconds(-1), .seconds(Int64.min),
            .seconds(Int64.max) * 10, .seconds(Int64.min) * 10,
        ])
    func ages(maximum: Duration) async throws {
        defer { remove() }
        var policy = CookiePolicy()
        policy.maximumAge = maximum
        let jar = try CookieJar(file: file, policy: policy)
        let ages = ["\(Int64.max)", "99999999999999999999999999", "9223372036854775806", "3155760000000", "-5", "1"]
        for (number, age) in ages.enumerated() {
            jar.set("a\(number)=b; Max-Age=\(age)", from: "https://a.example/")
        }
        jar.set("b=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT", from: "https://a.example/")
        let seconds = [1e300, .infinity, -1e300, -.infinity, .nan, Double(Int64.max), 0, 1e18, 1_000_000_050.5]
        for (number, second) in seconds.enumerated() {
            let expiry = Date(timeIntervalSince1970: second)
            try jar.insert(Cookie("c\(number)", "b", domain: "a.example", expiry: expiry), at: epoch)
        }
        try await jar.save(at: epoch)
        let again = try CookieJar(file: file, policy: policy, at: epoch)
        let names = again.cookies(for: url("https://a.example/"), at: epoch).map(\.name)
        let kept = ["a0", "a1", "a2", "a3", "a5", "b", "c0", "c1", "c5", "c7", "c8"]
        #expect(names == (maximum > .zero ? kept : []))
        #expect(again.cookies.allSatisfy { $0.expiry.map { $0 > epoch && $0 < epoch + 1e12 } == true })
    }

    @Test("a file with an expiry beyond all dates is read, and written again")
    func lateFiles() async throws {
        defer { remove() }
        let line = "x.example\tFALSE\t/\tFALSE\t9223372036854775807\tname\tvalue\n"
        try Data(line.utf8).write(to: file)
        var policy = CookiePolicy()
        policy.maximumAge = .seconds(Int64.max)
        let jar = try CookieJar(file: file, policy: policy)
        try jar.insert(Cookie("a", "1", domain: "x.example"))
        try await jar.save()
        #expect(try CookieJar(file: file, policy: policy).count == 2)
    }

    @Test("a jar that the app has changed is written by save, once per change")
    func saving() async throws {
        defer { remove() }
        let jar = try CookieJar(file: file)
        try jar.insert(Cookie("a", "1", domain: "x.example"))
        try await jar.save()
        let first = try Data(contentsOf: file)
        try Data("other".utf8).write(to: file)
        try await jar.save()
        #expect(try Data(contentsOf: file) == Data("other".utf8))
        jar.remove()
        try await jar.save()
        #expect(try Data(contentsOf: file).count < first.count)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try? jar.insert(Cookie("n\(number)", "1", domain: "x.example"))
                    try? await jar.save()
                }
            }
        }
        #expect(try CookieJar(file: file).count == 20)
    }

    @Test("cookies that a redirect replaces or removes are replaced and removed in the file, too")
    func redirectedFile() async throws {
        defer { remove() }
        let jar = try CookieJar(file: file, at: epoch)
        for text in ["sid=old; Max-Age=600; Path=/", "csrf=1; Max-Age=600; Path=/", "lang=de; Max-Age=600; Path=/"] {
            jar.set(text, from: "https://www.shop.example/")
        }
        try await jar.save(at: epoch)
        let stub = StubTransport(.text("in"))
        stub.on(
            "/login",
            response: .redirect(to: "/home").header(.setCookie, "sid=new; Max-Age=600; Path=/")
                .header(.setCookie, "csrf=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/"))
        stub.on("/home", response: .text("in").header(.setCookie, "lang=; Max-Age=0; Path=/"))
        let agent = NetworkAgent(
            baseURL: "https://www.shop.example/", transport: stub, filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        try await agent.send(Call<Void>(.get, "login"))
        #expect(
            stub.received.last?.headers[.cookie] == "sid=new; lang=de"
                || stub.received.last?.headers[.cookie] == "lang=de; sid=new")
        try await jar.save(at: epoch)
        let again = try CookieJar(file: file, at: epoch)
        #expect(again.cookies.map { "\($0.name)=\($0.value)" } == ["sid=new"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("csrf"))
    }
}
