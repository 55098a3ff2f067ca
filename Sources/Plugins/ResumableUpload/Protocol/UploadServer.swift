import Errand
import ErrandEssentials

struct UploadServer: Codable, Sendable, Equatable {
    /// Never `automatic`.
    var uploadProtocol: UploadProtocol
    var isConfirmed = false
    var limits = UploadLimits()
    /// Announced by a tus server.
    var extensions: Set<String> = []
    /// Checksum algorithms that a tus server announces.
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

    /// Reads the response to an OPTIONS request. If it doesn't identify a protocol, assumes the chosen one.
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

/// The server's limits in bytes, from `Upload-Limit` or `Tus-Max-Size`.
struct UploadLimits: Codable, Sendable, Equatable {
    /// `max-size`.
    var maximumBytes: Int64?
    /// `max-append-size`, per request.
    var maximumRequestBytes: Int64?
    /// `min-append-size`, for each request except the last.
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
