import Errand
import ErrandReplay
import ErrandTesting
import Foundation
import Testing

@Suite(.endsInTime, .leakChecked)
struct ReplayFileTests {
    private func fault(_ text: String) -> HARError? {
        #expect(throws: HARError.self) { try ReplayTransport(har: Data(text.utf8)) }
    }

    @Test("a file that is truncated at any byte throws an error with that position")
    func truncated() throws {
        let whole = archive(
            entry(
                "POST", "\(site)/a", headers: [("A", #"b\u00fcc"#)],
                post: #"{"mimeType":"t","text":"x","_y":[{},[],null]}"#),
            entry("\(site)/b", content: text("ok"), timings: #""wait":1.5e2"#))
        _ = try ReplayTransport(har: whole)
        for count in 0..<whole.count {
            let error = #expect(throws: HARError.self) { try ReplayTransport(har: whole.prefix(count)) }
            #expect(error?.code == .truncated && error?.byte == count, "\(count): \(error?.description ?? "")")
        }
    }

    @Test("a damaged byte causes an error with its position, or a different value, and has no other effects")
    func damaged() throws {
        let whole = archive(entry("\(site)/a", headers: [("A", "b")], content: text("ok"), timings: #""wait":1"#))
        var codes: Set<HARError.Code> = []
        for position in whole.indices {
            for byte in [UInt8(0), 0x22, 0x5C, 0x5D, 0x7D, 0x2C, 0x78, 0xFF] {
                var damaged = whole
                damaged[position] = byte
                do { _ = try ReplayTransport(har: damaged) } catch {
                    #expect(error is HARError)
                    guard let error = error as? HARError else { continue }
                    codes.insert(error.code)
                    #expect(error.byte.map { $0 <= whole.count } == true && error.code != .fileFailed)
                }
            }
        }
        #expect(codes == [.malformedJSON, .notHAR, .truncated])
    }

    @Test(
        "an error names its path",
        arguments: [
            ("", HARError.Code.truncated, ""), ("[]", .notHAR, ""), ("{}", .notHAR, ""),
            (#"{"log":[]}"#, .notHAR, "log"),
            (#"{"log":{"entries":{}}}"#, .notHAR, "log.entries"),
            (#"{"log":{"entries":[{}]}}"#, .notHAR, "log.entries[0]"),
            (#"{"log":{"entries":[]},"log":{"entries":[]}}"#, .notHAR, "log.entries"),
            (#"{"log":{"entries":[{"request":{"method":1}}]}}"#, .notHAR, "log.entries[0].request.method"),
            (#"{"log":{"entries":[{"response":{"status":20.5}}]}}"#, .notHAR, "log.entries[0].response.status"),
            (#"{"log":{"entries":[{"response":{"status":1e9}}]}}"#, .notHAR, "log.entries[0].response.status"),
            (
                #"{"log":{"entries":[{"response":{"headers":[{"name":[]}]}}]}}"#, .notHAR,
                "log.entries[0].response.headers[0].name"
            ),
            (#"{"log":{"entries":[{"secret token":tru}]}}"#, .malformedJSON, "log.entries[0].?"),
            (#"{"log":{"entries":[01]}}"#, .notHAR, "log.entries[0]"), (#"{"log":{"x":01}}"#, .malformedJSON, "log.x"),
            (#"{"log":{"x":"\q"}}"#, .malformedJSON, "log.x"), (#"{"log":{"x":"\u12g4"}}"#, .malformedJSON, "log.x"),
            (#"{"log":{"entries":[]}} x"#, .malformedJSON, ""), ("\u{FEFF}{}", .notHAR, ""), ("<html>", .notHAR, ""),
        ])
    func places(text: String, code: HARError.Code, path: String) {
        let error = fault(text)
        #expect(error?.code == code && error?.path == path, "\(error?.description ?? "")")
        #expect(error?.byte != nil && error?.description.hasPrefix("\(code): ") == true)
    }

    @Test("hostile files are refused: deep nesting, endless values, an enormous URL or head")
    func hostile() throws {
        for text in [
            String(repeating: "[", count: 1_000_000), #"{"log":{"x":"# + String(repeating: #"{"a":"#, count: 100_000),
        ] {
            #expect([.tooLarge, .notHAR].contains(fault(text)?.code))
        }
        let url = "\(site)/" + String(repeating: "a", count: 100_000)
        #expect(#expect(throws: HARError.self) { try ReplayTransport(har: archive(entry(url))) }?.code == .tooLarge)
        let fields = (0..<40).map { ("A\($0)", String(repeating: "b", count: 40_000)) }
        let error = #expect(throws: HARError.self) {
            try ReplayTransport(har: archive(entry("\(site)/a", headers: fields)))
        }
        #expect(error?.code == .tooLarge && error?.path.hasPrefix("log.entries[0].response.headers") == true)
        let many = archive(entry("\(site)/1"), entry("\(site)/2"), entry("\(site)/3"))
        let bound = #expect(throws: HARError.self) { try ReplayTransport(har: many, maximumIndexBytes: 700) }
        #expect(bound?.code == .tooLarge && bound?.path == "log.entries[2]")
    }

    @Test("a body that isn't Base64 throws with its position when it is read, and other bodies aren't affected")
    func damagedBody() async throws {
        let replay = try ReplayTransport(
            har: archive(
                entry("\(site)/a", content: #""size":3,"encoding":"base64","text":"AA*A""#),
                entry("\(site)/b", content: #""size":2,"encoding":"base64","text":"A""#),
                entry("\(site)/c", content: #""size":3,"encoding":"base64","text":"AAA\nA-_==""#)))
        let agent = agent(replay)
        for path in ["a", "b"] {
            let error = await #expect(throws: HARError.self) { try await agent.send(Raw(path: path)) }
            #expect(error?.code == .damagedBody && error?.path.hasSuffix(".response.content.text") == true)
        }
        #expect(try await agent.send(Raw(path: "c")).value.data == Data([0, 0, 0, 0xFB]) + Data([0xF0]).prefix(0))
    }

    @Test("a path without an archive is a typed error")
    func places() throws {
        let folder = try Folder(["empty.har": ""])
        for url in [folder.url, folder.file("absent.har"), URL(filePath: "/dev/zero")] {
            #expect(#expect(throws: HARError.self) { try ReplayTransport(har: url) }?.code == .fileFailed)
        }
        let remote = try #require(URL(string: "https://example.com/a.har"))
        #expect(#expect(throws: HARError.self) { try ReplayTransport(har: remote) }?.code == .fileFailed)
        #expect(
            #expect(throws: HARError.self) { try ReplayTransport(har: folder.file("empty.har")) }?.code == .truncated)
    }

    @Test("a large file is read in little memory, and its large body on demand; 1 GB with ERRAND_LONG_TESTS")
    func large() async throws {
        let isLong = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] != nil
        let pieces = isLong ? 1000 : 5
        let folder = try Folder()
        let url = folder.file("large.har")
        let before = entry("\(site)/before", content: text("before"))
        let after = entry("\(site)/after", content: text("after"))
        let large = entry("\(site)/large", content: #""size":1,"text":"@""#).split(separator: "@")
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: Data(#"{"log":{"entries":[\#(before),\#(large[0])"#.utf8))
        // Some pieces begin within an escape sequence.
        let piece = Data(String(repeating: #"0123456789abc\u00fc"#, count: (1 << 20) / 19).utf8)
        for _ in 0..<pieces { try file.write(contentsOf: piece) }
        try file.write(contentsOf: Data("\(large[1]),\(after)]}}".utf8))
        try file.close()

        let memory = residentBytes()
        let replay = try ReplayTransport(har: url)
        let agent = agent(replay)
        struct Stream: Request {
            typealias Output = HTTPBody
            var path: String { "large" }
        }
        var (count, isEqual) = (0, true)
        let unit = Array("0123456789abcü".utf8)
        for try await chunk in try await agent.send(Stream()).value {
            isEqual = isEqual && chunk.first == unit[count % unit.count]
            count += chunk.count
        }
        #expect(isEqual && count == pieces * ((1 << 20) / 19) * unit.count)
        #expect(try await agent.send(Get(path: "before")).value == "before")
        #expect(try await agent.send(Get(path: "after")).value == "after")
        if isLong { #expect(residentBytes() - memory < 100 << 20) }
    }
}
