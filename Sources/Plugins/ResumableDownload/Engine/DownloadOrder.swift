import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import ErrandTransfers
import Synchronization

/// The download that a call asks for. It's validated before files are opened.
struct DownloadOrder: Sendable {
    let request: any DownloadRequest
    let exchange: Exchange
    let options: DownloadOptions
    let destination: Destination
    let meter: TransferMeter
    let control: TransferControl
    let checksum: [UInt8]?
    let isRepeatable: Bool
    let user: TransferUser
    private let pin: UserPin
    private let name: String
    private let listener: @Sendable (TransferReport) -> Void

    var segments: Int { isRepeatable ? max(1, min(16, options.maximumSegments)) : 1 }

    init(_ request: any DownloadRequest, exchange: Exchange, options: DownloadOptions) throws {
        guard exchange.http.method != .head else {
            throw TransferError(.invalidRequest, "a response to HEAD has no body to download; use GET")
        }
        if exchange.http.headers.contains(.range) || exchange.http.headers.contains(.ifRange) {
            throw TransferError(
                .invalidRequest, "the download sets Range and If-Range itself; remove them from the request")
        }
        checksum = try request.checksum.map { checksum in
            guard let bytes = checksum.bytes else {
                throw TransferError(.invalidRequest, "expected a checksum of 64 hexadecimal digits")
            }
            return bytes
        }
        self.request = request
        self.options = options
        isRepeatable = exchange.http.method == .get
        destination = try Destination(request.destination)
        let key = request.downloadKey ?? Self.key(exchange.tags[ResourceURL.self] ?? exchange.http.url)
        name = Hexadecimal.text(SHA256Digest.digest(of: Array("\(exchange.http.method)\n\(key)".utf8)))
        let call = exchange.tags[TransferCall.self]
        (control, listener) = (call.control, call.report)
        let lastReport = LastReportedBytes()
        meter = TransferMeter(
            interval: options.progressInterval.bounded, moving: .receiving, mayFall: false, time: exchange.time
        ) { [listener] status in
            let progress = TransferProgress(received: status.transferred, totalToReceive: status.total)
            if lastReport.differs(from: status) { exchange.activity.report(.progress(progress)) }
            listener(.progress(status))
        }
        var exchange = exchange
        exchange.delivery = .file(request.destination)
        exchange.reportsProgress = false
        exchange.http.headers[.acceptEncoding] = "identity"
        if checksum == nil { exchange.http.headers[.wantReprDigest] = "sha-256=10" }
        let user = TransferUser()
        self.user = user
        pin = UserPin(within: exchange.userPin) { marks in try user.check(marks) }
        exchange.pin(to: pin)
        self.exchange = exchange
    }

    var stamp: UserStamp? { user.stamp(of: pin.marks) }

    private static func key(_ url: URL) -> String { String(url.absoluteString.prefix { $0 != "#" }) }

    /// Opens the partial file. If the process has too many open files, waits until a file is closed.
    func open() async throws -> PartialFile {
        let url = String(URLSyntax.redacted(exchange.http.urlText).prefix(2048))
        var wait = Duration.milliseconds(10)
        while true {
            do { return try PartialFile(destination, request: name, url: url) } catch {
                guard error.code == .tooManyOpenFiles else { throw error }
                if wait == .milliseconds(10) { report(.queued(reason: error.message), .queued) }
            }
            try await exchange.time.sleep(until: exchange.time.instant(after: wait))
            wait = min(wait * 2, .milliseconds(500))
        }
    }

    func report(_ notice: TransferNotice, _ state: TransferState? = nil) {
        exchange.note("download", describing: notice)
        listener(.notice(notice))
        if let state { meter.set(state) }
    }
}

/// Notes the bytes in the last report to the activity, so a report that changes only the state can be skipped.
private final class LastReportedBytes: Sendable {
    private let last = Mutex<(count: Int64, total: Int64?)?>(nil)

    func differs(from status: TransferStatus) -> Bool {
        last.withLock { last in
            defer { last = (status.transferred, status.total) }
            return last?.count != status.transferred || last?.total != status.total
        }
    }
}
