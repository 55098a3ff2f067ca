import Errand
import ErrandAuthentication
import ErrandCookies
import ErrandEssentials
import ErrandResumableDownload
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Foundation
import Testing

@Suite("Transfers that outlive their call while users change", .endsInTime, .leakChecked)
struct TransferTests {
    private let folder: Folder
    private let film = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })

    init() throws { folder = try Folder() }

    /// How the app distinguishes its users.
    enum Identity: CaseIterable, Sendable {
        case session, sessionBefore, owner, header, cookie, own

        /// Returns an app's filters while this user is signed in.
        func filters(_ user: String, around filter: any Filter, for server: String) throws -> [any Filter] {
            switch self {
            case .session:
                return [filter, .authentication(AuthenticationSession(BearerToken(user)) { (_: BearerToken?) in nil })]
            case .sessionBefore:
                return [.authentication(AuthenticationSession(BearerToken(user)) { (_: BearerToken?) in nil }), filter]
            // The token changes with each start.
            case .owner:
                let token = BearerToken("\(user).\(UInt32.random(in: 0 ... .max))", owner: user)
                return [filter, .authentication(AuthenticationSession(token) { (_: BearerToken?) in nil })]
            case .header:
                let adding = HeaderFilter { _ in
                    var headers = HTTPHeaders()
                    headers.set("X-Device-Key", user, sensitive: true)
                    return headers
                }
                return [filter, adding]
            case .cookie:
                let jar = CookieJar()
                if let url = URL(string: server) { try jar.store("sid=\(user)", from: url) }
                return [filter, .cookies(jar)]
            case .own:
                let adding = ClosureFilter(.hop) { exchange, next in
                    var exchange = exchange
                    exchange.http.headers[.authorization] = "Key \(user)"
                    return try await next(exchange)
                }
                return [filter, adding]
            }
        }
    }

    // MARK: Uploads

    struct Send: UploadRequest {
        typealias Output = HTTPResponse
        var method: HTTPMethod { .post }
        var path: String { "files" }
        var body: RequestBody
        var uploadKey: String?
    }

    private func upload(
        _ user: String, _ identity: Identity, to origin: UploadOrigin, key: String? = nil
    ) async throws {
        let retry = TransferRetryPolicy(maximumFailures: 0, maximumAttempts: 1, backoff: .none)
        let options = UploadOptions(directory: folder.file("records"), retry: retry)
        let filters = try identity.filters(user, around: .uploads(options), for: origin.url)
        let agent = NetworkAgent(baseURL: origin.url, transport: .system, filters: filters)
        _ = try await agent.send(Send(body: .data(film), uploadKey: key))
    }

    private func leave(_ user: String, _ identity: Identity, _ origin: UploadOrigin, key: String? = nil) async {
        origin.set { $0.fault = { _, request in request.method == .options ? nil : .cut(250_000) } }
        await #expect(throws: (any Error).self) { try await upload(user, identity, to: origin, key: key) }
        origin.set { ($0.fault, $0.log) = ({ _, _ in nil }, []) }
    }

    @Test(
        "an upload that one user began isn't continued by another user's call, but by its own user's",
        arguments: Identity.allCases, [nil, "film 7"])
    func upload(identity: Identity, key: String?) async throws {
        for kind in [UploadOrigin.Kind.draft(8), .tus] {
            let origin = try UploadOrigin(kind)
            await leave("ada", identity, origin, key: key)
            try await upload("bob", identity, to: origin, key: key)
            let log = origin.snapshot.log
            #expect(!log.contains("HEAD") && !log.contains("DELETE") && !log.contains("PATCH 250000"), "\(log)")
            #expect(origin.snapshot.bodies.count == 1)
            origin.set { $0.log = [] }
            try await upload("ada", identity, to: origin, key: key)
            #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
            #expect(origin.snapshot.bodies.map { Data($0) } == [film, film])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("records").path).isEmpty)
        }
    }

    @Test("several users each continue their own upload")
    func severalUploads() async throws {
        let origin = try UploadOrigin(.draft(8))
        let users = ["ada", "bob", "eve"]
        for user in users { await leave(user, .session, origin) }
        #expect(try ResumableUploadFilter.pendingUploads(in: folder.file("records")).count == 3)
        for user in users.reversed() {
            origin.set { $0.log = [] }
            try await upload(user, .session, to: origin)
            #expect(origin.snapshot.log.suffix(2) == ["HEAD", "PATCH 250000"])
        }
        #expect(origin.snapshot.bodies.count == 3)
    }

    @Test("if there are more users than records, the last users lose their progress, and don't get another user's")
    func manyUploads() async throws {
        let origin = try UploadOrigin(.draft(8))
        for user in 0..<6 { await leave("user \(user)", .own, origin) }
        #expect(try ResumableUploadFilter.pendingUploads(in: folder.file("records")).count == 4)
        for user in 0..<6 { try await upload("user \(user)", .own, to: origin) }
        #expect(origin.snapshot.bodies.map { Data($0) } == Array(repeating: film, count: 6))
    }

    @Test(
        "if the bytes are sent to another origin without user marks, the record keeps the users apart"
    )
    func uploadElsewhere() async throws {
        let (first, second) = (try UploadOrigin(.tus), try UploadOrigin(.tus))
        for id in ["a", "b"] { second.set { $0.uploads[id] = UploadOrigin.Upload(total: 600_000) } }
        let places = Log<String>()
        for id in ["a", "b"] { places.add("\(second.url)/files/\(id)") }
        let next = Counter()
        first.set {
            $0.extensions = "creation"
            $0.fault = { _, request in
                request.method == .post ? .change([.location: places.all[min(next.increment(), 2) - 1]]) : nil
            }
        }
        second.set { $0.fault = { _, _ in .cut(250_000) } }
        await #expect(throws: (any Error).self) { try await upload("ada", .session, to: first) }
        second.set { ($0.fault, $0.log) = ({ _, _ in nil }, []) }
        try await upload("bob", .session, to: first)
        #expect(second.snapshot.log == ["PATCH 0"] && second.snapshot.uploads["b"]?.isComplete == true)
        second.set { $0.log = [] }
        try await upload("ada", .session, to: first)
        #expect(second.snapshot.log == ["HEAD", "PATCH 250000"] && second.snapshot.uploads["a"]?.isComplete == true)
    }

    @Test("a refreshed token belongs to the same user if the credential names its owner")
    func refreshed() async throws {
        let origin = try UploadOrigin(.draft(8))
        await leave("ada", .owner, origin)
        try await upload("ada", .owner, to: origin)
        #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
    }

    @Test("no identity is stored in a record or a sidecar")
    func secrets() async throws {
        let origin = try UploadOrigin(.draft(8))
        await leave("hunter2", .session, origin)
        let records = folder.file("records")
        for name in try FileManager.default.contentsOfDirectory(atPath: records.path) {
            let data = try Data(contentsOf: records.appending(path: name))
            #expect(!String(decoding: data, as: UTF8.self).contains("hunter2"))
        }
    }

    // MARK: Downloads

    struct Fetch: DownloadRequest {
        var path: String { "film.mp4" }
        var destination: URL
        var downloadKey: String?
    }

    @Test("bytes that one user has fetched aren't resumed or delivered for another user", arguments: Identity.allCases)
    func download(identity: Identity) async throws {
        let (film, server, number, ranges) = (film, try TestServer(), Counter(), Log<String?>())
        server.on("/film.mp4") { request in
            ranges.add(request.headers["Range"])
            let whole = TestResponse.ranges(film, etag: "\"1\"")
            return [1, 3].contains(number.increment()) ? whole.truncated(to: 400_000) : whole
        }
        let retry = TransferRetryPolicy(maximumFailures: 0, maximumAttempts: 1, backoff: .none)
        let destination = folder.file("a")
        func fetch(_ user: String) async throws {
            let options = DownloadOptions(retry: retry)
            let filters = try identity.filters(user, around: .downloads(options), for: server.url)
            let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: filters)
            try await agent.send(Fetch(destination: destination))
        }
        await #expect(throws: (any Error).self) { try await fetch("ada") }
        try await fetch("bob")
        #expect(ranges.all == [nil, nil])
        #expect(try folder.data("a") == film)
        await #expect(throws: (any Error).self) { try await fetch("ada") }
        try await fetch("ada")
        #expect(ranges.count == 4 && ranges.all[3]?.hasPrefix("bytes=") == true)
        #expect(try folder.data("a") == film)
    }
}
