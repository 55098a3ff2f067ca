import Errand
import ErrandEssentials

/// What a server has said about the uploads that it takes.
struct UploadServer: Codable, Sendable, Equatable {
    /// Never `automatic`.
    var uploadProtocol: UploadProtocol
    /// Whether the server has shown that it knows the protocol.
    var isConfirmed = false
    var limits = UploadLimits()
    /// The extensions of tus.
    var extensions: Set<String> = []
    /// The checksum algorithms of tus.
    var algorithms: Set<String> = []

    var dialect: any UploadDialect {
        switch uploadProtocol {
        case .tus: TusDialect(server: self)
        case .draft6: DraftDialect(version: 6)
        case .automatic, .draft8: DraftDialect(version: 8)
        }
    }

    /// Whether it joins uploads.
    var joinsSegments: Bool { uploadProtocol == .tus && extensions.contains("concatenation") }

    /// A server that has not said anything yet.
    init(_ uploadProtocol: UploadProtocol) { self.uploadProtocol = uploadProtocol }

    /// What a response to OPTIONS says; a server that does not say is taken for one of the protocol that was chosen.
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

    /// Takes in what a response of the upload says.
    mutating func learn(_ headers: HTTPHeaders) {
        if let limits = UploadLimits(headers) {
            (self.limits, isConfirmed) = (limits, true)
        }
        if uploadProtocol == .draft8, UploadFields.integer(headers, UploadFields.version) == 6 {
            uploadProtocol = .draft6
        }
    }
}

/// The limits of a server: `Upload-Limit`, or `Tus-Max-Size`.
struct UploadLimits: Codable, Sendable, Equatable {
    /// The longest body (`max-size`).
    var maximumBytes: Int64?
    /// The most bytes of one request (`max-append-size`).
    var maximumRequestBytes: Int64?
    /// The fewest bytes of one request but the last (`min-append-size`).
    var minimumRequestBytes: Int64?

    init() {}

    /// The limits in an `Upload-Limit` field; nil where there is none that can be read.
    init?(_ headers: HTTPHeaders) {
        guard let limits = UploadFields.limits(headers) else { return nil }
        maximumBytes = limits["max-size"]
        maximumRequestBytes = limits["max-append-size"].flatMap { $0 > 0 ? $0 : nil }
        minimumRequestBytes = limits["min-append-size"]
    }
}

/// The place of an upload on its server.
struct UploadResource: Codable, Sendable, Equatable {
    var url: URL
    /// When the server forgets it; nil where it does not say.
    var expiry: Date?

    /// Takes in what a response says about the time that is left.
    mutating func learn(_ headers: HTTPHeaders, now: Date) {
        if let expiry = UploadFields.expiry(headers, now: now) { self.expiry = expiry }
    }
}
