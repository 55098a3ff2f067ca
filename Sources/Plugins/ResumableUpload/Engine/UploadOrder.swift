import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import ErrandTransfers

/// The upload that one call requests, checked before anything is opened or sent.
struct UploadOrder: Sendable {
    let request: any UploadRequest
    private(set) var exchange: Exchange
    /// The user in the record, or else the one of the first request.
    private(set) var user = TransferUser()
    private var pin: UserPin
    /// Which of the records of the same upload this is: each user has one.
    private var place = 0
    /// Whether what the record has is discarded.
    private(set) var beginsAnew = false
    let options: UploadOptions
    let source: UploadBody
    let meter: TransferMeter
    let control: TransferControl
    let acknowledged: Acknowledgement
    private let listener: @Sendable (TransferReport) -> Void

    init(_ request: any UploadRequest, _ exchange: Exchange, _ options: UploadOptions) throws {
        let body = exchange.http.body
        guard !body.isNone else { throw TransferError(.invalidRequest, "an upload without a body") }
        for name in Self.ownFields where exchange.http.headers.contains(name) {
            throw TransferError(.invalidRequest, "an upload sets \(name) itself; remove it from the request")
        }
        source = try UploadBody(body)
        if options.uploadProtocol == .tus, source.length == nil {
            throw TransferError(.invalidRequest, "tus needs a body whose length is known")
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

    /// The same order after another user was found to have begun the upload; the next user's record is tried. The last of
    /// the records is taken over.
    func afterAnotherUser(within outer: UserPin?) -> UploadOrder {
        var order = self
        (order.pin, order.user) = Self.user(of: &order.exchange, within: outer)
        if place + 1 < Self.maximumUsers { order.place += 1 } else { order.beginsAnew = true }
        return order
    }

    /// The most users who have a record of one upload.
    private static let maximumUsers = 4

    private static let ownFields = [
        UploadFields.complete, UploadFields.offset, UploadFields.length, UploadFields.version, UploadConcat.name,
        "Tus-Resumable", "Upload-Metadata",
    ]

    /// What identifies the upload across starts, as the name of its record: a digest, so that no secret of a URL is on the
    /// disk.
    ///
    /// Without a key of the app's it is the URL with the path of the file, or with the bytes of another body: a length or a
    /// name is that of many bodies. Reads what ``UploadBody/contentDigest()`` reads. Blocks.
    @concurrent func identity(in directory: String) async throws -> String {
        let http = exchange.http
        let url = exchange.tags[ResourceURL.self] ?? http.url
        var parts = [http.method.rawValue]
        if let key = request.uploadKey {
            // What one origin has of a body is no beginning of an upload to another.
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
        }
        if place > 0 { parts += ["user", "\(place)"] }
        // Each with its length, so that no two lists become one text.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n")
        return Hexadecimal.text(SHA256Digest.digest(of: Array(text.utf8)))
    }

    /// An empty record.
    func record(_ identity: String, _ source: SourceFingerprint, _ server: UploadServer) -> UploadRecord {
        UploadRecord(
            request: identity, user: user.stamp(of: pin.marks),
            url: String(URLSyntax.redacted(exchange.http.urlText).prefix(2048)),
            name: self.source.path.map { URL(filePath: $0).lastPathComponent }, source: source, server: server)
    }

    /// Segments that may be sent at once, where the server joins them.
    var maximumSegments: Int { max(1, min(UploadSegment.limit, options.maximumSegments)) }

    /// The segments of a body; nil for one connection.
    func split(_ source: UploadBody) -> [UploadSegment]? {
        guard source.opensAtOffset, let total = source.length,
            options.uploadProtocol == .automatic || options.uploadProtocol == .tus
        else { return nil }
        return UploadSegment.split(total, into: maximumSegments, minimum: options.minimumSegmentBytes)
    }

    /// The files that the upload may have open at once: the record, and for each connection the body and a socket.
    var descriptors: Int { 1 + 2 * (split(source)?.count ?? 1) }

    /// Delivers a notice to accessories and to the reader of the events.
    func report(_ notice: TransferNotice) {
        exchange.note("upload", notice.description, details: notice)
        listener(.notice(notice))
    }
}
