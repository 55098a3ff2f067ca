import Errand
import ErrandCookies
import ErrandTesting
import Foundation
import Testing

@Suite("Cookie files that are written in the background", .endsInTime, .leakChecked) struct WriteBehindTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "cookies.txt") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    private func agent(_ jar: CookieJar, _ time: ManualTimeSource, _ accessories: any Accessory...) -> NetworkAgent {
        let stub = StubTransport { request in
            let name = request.url.lastPathComponent
            return name == "none" ? .text("") : .text("").header(.setCookie, "\(name)=1; Path=/")
        }
        return NetworkAgent(
            baseURL: "https://x.example", transport: stub, filters: [.cookies(jar)], accessories: accessories,
            time: time)
    }

    private var exists: Bool { FileManager.default.fileExists(atPath: file.path) }
    private var identity: Int? {
        (try? FileManager.default.attributesOfItem(atPath: file.path))?[.systemFileNumber] as? Int
    }
    private var names: [String] { get throws { try CookieJar(file: file, at: epoch).cookies.map(\.name) } }

    @Test("no response waits for the file, and the changes of several responses are written together a second later")
    func together() async throws {
        defer { remove() }
        let time = ManualTimeSource(date: epoch)
        let jar = try CookieJar(file: file, at: epoch)
        let agent = agent(jar, time)
        for name in ["a", "b", "c"] {
            try await agent.send(Call<Void>(.get, name))
            #expect(!exists, "the response that sets \(name) has waited for the file")
        }
        try await eventually {
            time.advance(by: .seconds(1))
            return exists
        }
        #expect(try names == ["a", "b", "c"])
        let first = identity
        try await agent.send(Call<Void>(.get, "a"))
        time.advance(by: .seconds(60))
        try await jar.save()
        #expect(identity == first, "what has not changed was written")
        try await agent.send(Call<Void>(.get, "d"))
        #expect(identity == first)
        try await eventually {
            time.advance(by: .seconds(1))
            return identity != first
        }
        #expect(try names == ["a", "b", "c", "d"])
    }

    @Test("a waiting write is done by save or when the jar is released, even if its clock is stopped")
    func ends() async throws {
        defer { remove() }
        let time = ManualTimeSource(date: epoch)
        do {
            let jar = try CookieJar(file: file, at: epoch)
            let agent = agent(jar, time)
            try await agent.send(Call<Void>(.get, "a"))
            try await jar.save(at: epoch)
            #expect(try names == ["a"])
            try await agent.send(Call<Void>(.get, "b"))
            agent.cancelAll()
            #expect(try names == ["a"])
            try await agent.send(Call<Void>(.get, "c"))
        }
        try await eventually { try names == ["a", "b", "c"] }
        do {
            let jar = try CookieJar(file: file, at: epoch)
            try jar.insert(Cookie("d", "1", domain: "x.example"), at: epoch)
        }
        #expect(try names == ["a", "b", "c", "d"])
    }

    @Test(
        "a missing folder causes a note on the next request, not a failure, and the next write includes all changes")
    func faults() async throws {
        defer { remove() }
        let (time, events) = (ManualTimeSource(date: epoch), RecordingAccessory())
        let jar = try CookieJar(file: file, at: epoch)
        let agent = agent(jar, time, events)
        try FileManager.default.removeItem(at: folder)
        try await agent.send(Call<Void>(.get, "a"))
        let notes = {
            events.records().compactMap { record in
                if case .note(let note) = record.event { note.details as? CookieFileError } else { nil }
            }
        }
        try await eventually {
            time.advance(by: .seconds(1))
            try await agent.send(Call<Void>(.get, "none"))
            return !notes().isEmpty
        }
        #expect(notes().first?.path == file.path && notes().first?.isReading == false)
        try await agent.send(Call<Void>(.get, "none"))
        #expect(notes().count == 1, "one failure is noted once")
        let thrown = await #expect(throws: CookieFileError.self) { try await jar.save() }
        #expect(thrown?.path == file.path && thrown?.isReading == false)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await agent.send(Call<Void>(.get, "b"))
        try await eventually {
            time.advance(by: .seconds(1))
            return exists
        }
        #expect(try names == ["a", "b"])
    }

    #if os(Linux) || os(macOS)
    @Test(
        "a process that ends by exit, with its jar alive and its clock stopped, leaves all cookies in the file")
    func ordinaryEnd() async throws {
        defer { remove() }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            let jar = try CookieJar(file: URL(filePath: path), at: epoch)
            let agent = NetworkAgent(
                baseURL: "https://x.example", transport: .stub(.text("").header(.setCookie, "a=1; Path=/")),
                filters: [.cookies(jar)], time: ManualTimeSource(date: epoch))
            try await agent.send(Call<Void>(.get, ""))
            try jar.insert(Cookie("b", "1", domain: "x.example"), at: epoch)
            exit(FileManager.default.fileExists(atPath: path) ? 1 : withExtendedLifetime((jar, agent)) { 0 })
        }
        #expect(try names == ["a", "b"])
    }

    @Test("a killed process loses unwritten changes, and leaves the old file")
    func kill() async throws {
        defer { remove() }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String] in
            let jar = try CookieJar(file: URL(filePath: path), at: epoch)
            try jar.insert(Cookie("a", "1", domain: "x.example"), at: epoch)
            try await jar.save(at: epoch)
            try jar.insert(Cookie("b", "1", domain: "x.example"), at: epoch)
            raise(SIGKILL)
        }
        #expect(try names == ["a"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies.txt"])
    }
    #endif

    @Test("if two jars share a file, the last write wins, and an unchanged jar doesn't write")
    func twoJars() async throws {
        defer { remove() }
        let (first, second) = (try CookieJar(file: file, at: epoch), try CookieJar(file: file, at: epoch))
        try first.insert(Cookie("a", "1", domain: "x.example"), at: epoch)
        try await first.save(at: epoch)
        try await second.save(at: epoch)
        #expect(try names == ["a"])
        try second.insert(Cookie("b", "1", domain: "x.example"), at: epoch)
        try await second.save(at: epoch)
        try await first.save(at: epoch)
        #expect(try names == ["b"])
    }

    @Test("a condition for removing cookies can use the jar")
    func removal() throws {
        defer { remove() }
        let jar = CookieJar()
        for name in ["a", "b", "c"] { try jar.insert(Cookie(name, "1", domain: "x.example")) }
        #expect(jar.remove { $0.name != "b" && jar.count == 3 } == 2 && jar.cookies.map(\.name) == ["b"])
    }
}
