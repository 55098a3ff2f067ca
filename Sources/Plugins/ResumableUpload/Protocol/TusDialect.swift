import Errand
import ErrandEssentials

/// Implements tus 1.0 (tus.io/protocols/resumable-upload).
struct TusDialect: UploadDialect {
    let server: UploadServer

    func creation(_ upload: UploadPlan, method: HTTPMethod, digest: [UInt8]?) -> UploadMessage {
        var headers = fields
        headers[UploadFields.length] = "\(upload.total ?? 0)"
        if upload.isSegment {
            headers[UploadConcat.name] = UploadConcat.partial.text
        } else if let metadata = Self.metadata(upload.metadata) {
            headers["Upload-Metadata"] = metadata
        }
        // The creating request contains few bytes. Only its response contains the upload's URL, so the request can't be
        // resumed if it's interrupted.
        var part = upload.part(at: 0)
        part.holdBack(upload.heldBack)
        guard server.extensions.contains("creation-with-upload"), 1...Self.maximumCreationBytes ~= part.count ?? 0
        else {
            return UploadMessage(method: .post, headers: headers)
        }
        headers[.contentType] = Self.contentType
        return UploadMessage(method: .post, headers: headers, part: part)
    }

    func joining(_ places: [UploadResource], _ metadata: [String: String]) -> UploadMessage {
        var headers = fields
        headers[UploadConcat.name] = UploadConcat.final(places.map(\.url.absoluteString)).text
        if let metadata = Self.metadata(metadata) { headers["Upload-Metadata"] = metadata }
        return UploadMessage(method: .post, headers: headers)
    }

    func inquiry() -> UploadMessage { UploadMessage(method: .head, headers: fields) }

    func append(_ part: UploadPart, digest: [UInt8]?) -> UploadMessage {
        var headers = fields
        headers[UploadFields.offset] = "\(part.offset)"
        headers[.contentType] = Self.contentType
        if let digest, takesDigest {
            headers["Upload-Checksum"] = "sha256 \(Data(digest).base64EncodedString())"
        }
        return UploadMessage(method: .patch, headers: headers, part: part)
    }

    func termination() -> UploadMessage { UploadMessage(method: .delete, headers: fields) }

    func namesUpload(_ response: HTTPResponse) -> Bool { 200...299 ~= response.status }

    func verdict(onCreation response: HTTPResponse, _ upload: UploadPlan, part: UploadPart?) -> UploadVerdict {
        guard 200...299 ~= response.status else { return refusal(response) }
        let offset = UploadFields.integer(response.headers, UploadFields.offset) ?? 0
        return offset == upload.total ? .complete : .has(offset)
    }

    func verdict(onInquiry response: HTTPResponse, _ upload: UploadPlan) -> UploadVerdict {
        // A server may also use 403 for an upload that no longer exists.
        if let reason = DraftDialect.loss(response) { return .gone(reason) }
        if response.status == 403 { return .gone("the server no longer has the upload (403)") }
        guard 200...299 ~= response.status else { return refusal(response) }
        if upload.isSegment, let concat = UploadConcat(response.headers), concat != .partial {
            return .gone("the server no longer treats the upload as a segment")
        }
        guard let offset = UploadFields.integer(response.headers, UploadFields.offset) else {
            return .gone("the server didn't report how many bytes it has received (Upload-Offset)")
        }
        if let length = UploadFields.integer(response.headers, UploadFields.length), length != upload.total {
            return .gone("the server expects \(length) bytes, but the body has \(upload.total ?? 0)")
        }
        return offset == upload.total ? .complete : .has(offset)
    }

    func verdict(onAppend response: HTTPResponse, _ upload: UploadPlan, part: UploadPart) -> UploadVerdict {
        if let reason = DraftDialect.loss(response) { return .gone(reason) }
        switch response.status {
        case 200...299:
            let offset = UploadFields.integer(response.headers, UploadFields.offset)
            return offset != nil && offset == upload.total ? .complete : .has(offset)
        case 409: return .has(nil)
        case 460: return .damaged("the bytes don't match their checksum (460)")
        default: return refusal(response)
        }
    }

    private func refusal(_ response: HTTPResponse) -> UploadVerdict {
        response.status == 412 && response.headers.contains("Tus-Version")
            ? .unusable("the server doesn't support tus 1.0") : .refused
    }

    private var fields: HTTPHeaders { ["Tus-Resumable": "1.0.0"] }

    private var takesDigest: Bool { server.extensions.contains("checksum") && server.algorithms.contains("sha256") }

    private static let maximumCreationBytes: Int64 = 256 << 10
    private static let contentType = "application/offset+octet-stream"

    /// Returns the value of `Upload-Metadata`, or nil if the metadata is empty. Skips keys that contain spaces or
    /// commas.
    static func metadata(_ metadata: [String: String]) -> String? {
        let pairs = metadata.filter { key, _ in
            !key.isEmpty && key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2C }
        }
        if pairs.isEmpty { return nil }
        return pairs.sorted { $0.key < $1.key }.map { key, value in
            value.isEmpty ? key : "\(key) \(Data(value.utf8).base64EncodedString())"
        }.joined(separator: ",")
    }
}

enum UploadConcat: Sendable, Equatable {
    case partial
    /// The value of the joining request. It contains the segments' URLs, in the order of their bytes.
    case final([String])

    static let name: HTTPHeaderName = "Upload-Concat"
    /// The maximum length of the field in bytes. Many servers limit header lines to 8 KiB.
    static let maximumBytes = 7_800

    init?(_ headers: HTTPHeaders) {
        let values = headers.values(of: Self.name)
        guard values.count == 1 else { return nil }
        let pieces = values[0].split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let places = pieces.count > 1 ? pieces[1].split(separator: " ").map(String.init) : []
        switch String(pieces.first ?? "").trimmingSpaces.lowercased() {
        case "partial" where pieces.count == 1: self = .partial
        case "final": self = .final(places)
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .partial: "partial"
        case .final(let places): "final;" + places.joined(separator: " ")
        }
    }

    /// Returns whether the URLs of all segments fit in the field. Assumes that the other URLs are as long as this URL.
    static func fits(_ place: URL, among count: Int) -> Bool {
        place.absoluteString.utf8.count < (maximumBytes - 6) / max(1, count)
    }
}
