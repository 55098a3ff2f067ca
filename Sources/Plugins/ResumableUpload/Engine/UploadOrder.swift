import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import ErrandTransfers

/// The upload that a call asks for. It's validated before files are opened.
struct UploadOrder: Sendable {
    let request: any UploadRequest
    private(set) var exchange: Exchange
    private(set) var user = TransferUser()
    private var pin: UserPin
    /// The number of this user's record. If several users upload the same body, each user has a separate record.
    private var place = 0
    private(set) var beginsAnew = false
    let options: UploadOptions
    let source: UploadBody
    let meter: TransferMeter
    let control: TransferControl
    let acknowledged: Acknowledgement
    private let listener: @Sendable (TransferReport) -> Void

    init(_ request: any UploadRequest, exchange: Exchange, options: UploadOptions) throws {
        let body = exchange.http.body
        guard !body.isNone else { throw TransferError(.invalidRequest, "an upload needs a body") }
        for name in Self.ownFields where exchange.http.headers.contains(name) {
            throw TransferError(.invalidRequest, "the upload sets \(name) itself; remove it from the request")
        }
        source = try UploadBody(body)
        if options.uploadProtocol == .tus, source.length == nil {
            throw TransferError(.invalidRequest, "uploads with tus need a body of known length")
        }
        self.request = request
        self.options = options
        let call = exchange.tags[TransferCall.self]
        (control, listener) = (call.control, call.report)
        let acknowledged = Acknowledgement()
        self.acknowledged = acknowledged
        meter = TransferMeter(
            interval: options.progressInterval.bounded, moving: .sending, mayFall: true, time: exchange.time
        ) { [listener] status in
            let (confirmed, transfer) = acknowledged.values(reporting: status.transferred)
            var status = status
            status.acknowledged = min(confirmed, status.transferred)
            exchange.activity.report(
                .progress(
                    TransferProgress(sent: status.transferred, totalToSend: status.total, transfer: transfer)))
            listener(.progress(status))
        }
        var exchange = exchange
        exchange.reportsProgress = false
        (pin, user) = Self.user(of: &exchange, within: exchange.userPin)
        self.exchange = exchange
    }

    private static func user(of exchange: inout Exchange, within outer: UserPin?) -> (UserPin, TransferUser) {
        let user = TransferUser()
        let pin = UserPin(within: outer) { marks in try user.check(marks) }
        exchange.pin(to: pin)
        return (pin, user)
    }

    /// Returns an order that uses the next record for the same body. Call this if the current record belongs to another
    /// user. If all records belong to other users, the new order overwrites the last record.
    func afterAnotherUser(within outer: UserPin?) -> UploadOrder {
        var order = self
        (order.pin, order.user) = Self.user(of: &order.exchange, within: outer)
        if place + 1 < Self.maximumUsers { order.place += 1 } else { order.beginsAnew = true }
        return order
    }

    private static let maximumUsers = 4

    private static let ownFields = [
        UploadFields.complete, UploadFields.offset, UploadFields.length, UploadFields.version, UploadConcat.name,
        "Tus-Resumable", "Upload-Metadata",
    ]

    /// Returns a digest that names the upload's record. If the app doesn't set a key, the digest covers the URL, the
    /// metadata, and the file's path. If the body isn't a file, the digest covers the body's bytes instead of a path,
    /// because several bodies can have the same length.
    @concurrent func identity(in directory: String) async throws -> String {
        let http = exchange.http
        let url = exchange.tags[ResourceURL.self] ?? http.url
        var parts = [http.method.rawValue]
        if let key = request.uploadKey {
            // An upload can't continue at another origin, so the origin is part of the digest.
            parts += ["key", URLSyntax.origin(of: url), key]
        } else {
            parts.append(String(url.absoluteString.prefix { $0 != "#" }))
            if let path = source.path {
                let isAbsolute = path.utf8.first == UInt8(ascii: "/")
                let whole = isAbsolute ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
                parts += ["file", RelativePath.of(whole, from: directory)]
            } else {
                parts += ["bytes", "\(source.length ?? 0)", try await source.contentDigest()]
            }
            // The server stores the metadata with the body, so the same bytes under another name are another upload.
            for (name, value) in request.uploadMetadata.sorted(by: { $0.key < $1.key }) {
                parts += ["metadata", name, value]
            }
            for name in [HTTPHeaderName.contentType, .contentDisposition] {
                if let value = http.headers[name] { parts += ["field", name.rawName, value] }
            }
        }
        if place > 0 { parts += ["user", "\(place)"] }
        // Each part is preceded by its length, so different lists can't result in the same text.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n")
        return Hexadecimal.text(SHA256Digest.digest(of: Array(text.utf8)))
    }

    func record(_ identity: String, source: SourceFingerprint, server: UploadServer) -> UploadRecord {
        UploadRecord(
            request: identity, user: user.stamp(of: pin.marks),
            url: String(URLSyntax.redacted(exchange.http.urlText).prefix(2048)),
            name: self.source.path.map { URL(filePath: $0).lastPathComponent }, source: source, server: server)
    }

    var maximumSegments: Int { max(1, min(UploadSegment.limit, options.maximumSegments)) }

    /// Divides the body into segments. Returns nil if the upload should use a single connection.
    func split(_ source: UploadBody) -> [UploadSegment]? {
        guard source.opensAtOffset, let total = source.length,
            options.uploadProtocol == .automatic || options.uploadProtocol == .tus
        else { return nil }
        return UploadSegment.split(total, into: maximumSegments, minimum: options.minimumSegmentBytes)
    }

    /// The number of file descriptors that the upload needs: one for the record, and two per connection (body and
    /// socket).
    var descriptors: Int { 1 + 2 * (split(source)?.count ?? 1) }

    func report(_ notice: TransferNotice) {
        exchange.note("upload", describing: notice)
        listener(.notice(notice))
    }
}

enum RelativePath {
    /// Returns the path relative to a directory, such as `../film.mp4`. It stays the same if the file and the directory
    /// move together, as they do with every app update on iOS.
    static func of(_ path: String, from directory: String) -> String {
        let (target, base) = (steps(path), steps(directory))
        let shared = zip(target, base).prefix { $0 == $1 }.count
        return (base.dropFirst(shared).map { _ in ".." } + target.dropFirst(shared)).joined(separator: "/")
    }

    private static func steps(_ path: String) -> [Substring] {
        var steps: [Substring] = []
        for step in path.split(separator: "/") where step != "." {
            if step == ".." { steps = steps.dropLast() } else { steps.append(step) }
        }
        return steps
    }
}
