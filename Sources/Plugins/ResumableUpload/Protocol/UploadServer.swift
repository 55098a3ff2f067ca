import Errand
import ErrandEssentials

struct UploadServer: Codable, Sendable, Equatable {
    /// The protocol that the server uses. It's never `automatic`.
    var uploadProtocol: UploadProtocol
    var isConfirmed = false
    var limits = UploadLimits()
    /// The extensions that a tus server announces.
    var extensions: Set<String> = []
    /// The checksum algorithms that a tus server announces.
    var algorithms: Set<String> = []

    var dialect: any UploadDialect {
        switch uploadProtocol {
        case .tus: TusDialect(server: self)
        case .draft6: DraftDialect(version: 6)
        case .automatic, .draft8: DraftDialect(version: 8)
        }
    }

    var joinsSegments: Bool { uploadProtocol == .tus && extensions.contains("concatenation") }

    init(_ uploadProtocol: UploadProtocol) { self.uploadProtocol = uploadProtocol }

    /// Reads the response to an OPTIONS request. If the response doesn't identify a protocol, assumes the chosen
    /// protocol.
    init(offering headers: HTTPHeaders, chosen: UploadProtocol) {
        let versions = UploadFields.list(headers, "Tus-Version") + UploadFields.list(headers, "Tus-Resumable")
        let isTus = versions.contains("1.0.0")
        let limits = UploadLimits(headers)
        switch chosen {
        case .automatic where isTus, .tus:
            uploadProtocol = .tus
            isConfirmed = isTus
            extensions = Set(UploadFields.list(headers, "Tus-Extension"))
            algorithms = Set(UploadFields.list(headers, "Tus-Checksum-Algorithm"))
            self.limits.maximumBytes = UploadFields.integer(headers, "Tus-Max-Size")
        case .automatic:
            uploadProtocol = UploadFields.integer(headers, UploadFields.version) == 6 ? .draft6 : .draft8
            isConfirmed = limits != nil
            self.limits = limits ?? UploadLimits()
        case .draft6, .draft8:
            uploadProtocol = chosen
            isConfirmed = limits != nil
            self.limits = limits ?? UploadLimits()
        }
    }

    mutating func learn(_ headers: HTTPHeaders) {
        if let limits = UploadLimits(headers) {
            (self.limits, isConfirmed) = (limits, true)
        }
        if uploadProtocol == .draft8, UploadFields.integer(headers, UploadFields.version) == 6 {
            uploadProtocol = .draft6
        }
    }
}

/// The server's limits in bytes. They come from `Upload-Limit` or `Tus-Max-Size`.
struct UploadLimits: Codable, Sendable, Equatable {
    /// The maximum size of an upload, from `max-size`.
    var maximumBytes: Int64?
    /// The maximum number of bytes per request, from `max-append-size`.
    var maximumRequestBytes: Int64?
    /// The minimum number of bytes in each request except the last, from `min-append-size`.
    var minimumRequestBytes: Int64?

    init() {}

    init?(_ headers: HTTPHeaders) {
        guard let limits = UploadFields.limits(headers) else { return nil }
        maximumBytes = limits["max-size"]
        maximumRequestBytes = limits["max-append-size"].flatMap { $0 > 0 ? $0 : nil }
        minimumRequestBytes = limits["min-append-size"]
    }
}

struct UploadResource: Codable, Sendable, Equatable {
    var url: URL
    var expiry: Date?

    mutating func learn(_ headers: HTTPHeaders, now: Date) {
        if let expiry = UploadFields.expiry(headers, now: now) { self.expiry = expiry }
    }
}
