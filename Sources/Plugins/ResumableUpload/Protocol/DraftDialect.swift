import Errand
import ErrandEssentials

/// Resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop versions 6 and 8.
struct DraftDialect: UploadDialect {
    let version: Int

    func creation(_ upload: UploadPlan, method: HTTPMethod, digest: [UInt8]?) -> UploadMessage {
        // If the server hasn't confirmed that it knows the protocol, the request contains the whole body, because other
        // servers would treat a part as the whole body.
        var part = upload.part(at: 0)
        if !upload.server.isConfirmed {
            part = UploadPart(at: 0, of: upload.total, within: UploadLimits(), upTo: nil)
        } else {
            part.holdBack(upload.heldBack)
            // If the server requires more bytes per request than this part has, the upload begins with an empty
            // request.
            let least = upload.server.limits.minimumRequestBytes ?? 0
            if !part.isLast, part.count ?? 0 < least { part.count = 0 }
        }
        if upload.beginsEmpty { part = UploadPart(offset: 0, count: 0, isLast: false) }
        var headers = fields
        headers[UploadFields.complete] = part.isLast ? "?1" : "?0"
        if let total = upload.total { headers[UploadFields.length] = "\(total)" }
        if let digest { headers[.reprDigest] = "sha-256=:\(Data(digest).base64EncodedString()):" }
        return UploadMessage(method: method, headers: headers, part: part)
    }

    func inquiry() -> UploadMessage { UploadMessage(method: .head, headers: fields) }

    func append(_ part: UploadPart, digest: [UInt8]?) -> UploadMessage {
        var headers = fields
        headers[UploadFields.offset] = "\(part.offset)"
        headers[UploadFields.complete] = part.isLast ? "?1" : "?0"
        headers[.contentType] = "application/partial-upload"
        if let digest { headers[.contentDigest] = "sha-256=:\(Data(digest).base64EncodedString()):" }
        return UploadMessage(method: .patch, headers: headers, part: part)
    }

    func termination() -> UploadMessage { UploadMessage(method: .delete, headers: fields) }

    private var fields: HTTPHeaders { [UploadFields.version: "\(version)"] }

    func namesUpload(_ response: HTTPResponse) -> Bool { isIncomplete(response) }

    func verdict(onCreation response: HTTPResponse, _ upload: UploadPlan, part: UploadPart?) -> UploadVerdict {
        if isIncomplete(response) {
            return 200...299 ~= response.status
                ? .has(UploadFields.integer(response.headers, UploadFields.offset)) : .refused
        }
        if UploadFields.boolean(response.headers, UploadFields.complete) == true { return .complete }
        guard 200...299 ~= response.status else { return .refused }
        return part?.isLast == false ? .unusable("the server treated a part of the body as the whole body") : .complete
    }

    func verdict(onInquiry response: HTTPResponse, _ upload: UploadPlan) -> UploadVerdict {
        if let reason = Self.loss(response) { return .gone(reason) }
        guard 200...299 ~= response.status else { return .refused }
        if UploadFields.boolean(response.headers, UploadFields.complete) == true { return .complete }
        guard let offset = UploadFields.integer(response.headers, UploadFields.offset) else {
            return .gone("the server didn't report how many bytes it has received (Upload-Offset)")
        }
        if let length = UploadFields.integer(response.headers, UploadFields.length), let total = upload.total,
            length != total
        {
            return .gone("the server expects \(length) bytes, but the body has \(total)")
        }
        return .has(offset)
    }

    func verdict(onAppend response: HTTPResponse, _ upload: UploadPlan, part: UploadPart) -> UploadVerdict {
        if let reason = Self.loss(response) { return .gone(reason) }
        let offset = UploadFields.integer(response.headers, UploadFields.offset)
        switch response.status {
        case 200...299:
            // The upload ends with the first response that isn't marked with `Upload-Complete: ?0`.
            return part.isLast && !isIncomplete(response) ? .complete : .has(offset ?? (part.isLast ? nil : part.end))
        case 409: return .has(offset)
        default:
            return UploadFields.boolean(response.headers, UploadFields.complete) == true ? .complete : .refused
        }
    }

    private func isIncomplete(_ response: HTTPResponse) -> Bool {
        UploadFields.boolean(response.headers, UploadFields.complete) == false
    }

    static func loss(_ response: HTTPResponse) -> String? {
        [404, 410].contains(response.status) ? "the server no longer has the upload (\(response.status))" : nil
    }
}
