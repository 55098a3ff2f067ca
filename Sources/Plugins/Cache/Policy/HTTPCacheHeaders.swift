import Errand
import ErrandHTTPSyntax

/// The header fields that are stored, sent and merged (RFC 9111, sections 3.1, 3.2 and 4.3).
enum HTTPCacheHeaders {
    /// The fields without those of one connection, those that `no-cache` names, `Age`, which is calculated, and sensitive
    /// fields such as `Set-Cookie`, which are never stored.
    static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let listed = CacheDirectives(headers).unstoredFields + connectionOptions(headers)
        var result = headers
        result.removeAll { field in
            field.isSensitive || unstored.contains(field.name) || field.name == "Age"
                || listed.contains { ASCII.equalsIgnoringCase($0, field.name.rawName) }
        }
        return result
    }

    /// The stored fields updated with those of a 304 response or of a response to HEAD. Fields that describe the bytes of
    /// the stored body stay: the body did not change, and its content coding may have been decoded since.
    static func merged(_ stored: HTTPHeaders, with new: HTTPHeaders) -> HTTPHeaders {
        var update = new
        let listed = connectionOptions(new)
        update.removeAll { field in
            unstored.contains(field.name) || describingBody.contains(field.name)
                || listed.contains { ASCII.equalsIgnoringCase($0, field.name.rawName) }
        }
        var result = stored
        result.merge(update)
        return result
    }

    /// The conditional request that validates a stored response; nil if the response has no validator.
    static func validating(_ request: HTTPRequest, _ stored: HTTPHeaders) -> HTTPRequest? {
        var request = request
        let tag = stored.first { $0.name == "ETag" && !$0.value.isEmpty }
        let modified = stored.values(of: "Last-Modified").first
        if let tag {
            var field = HTTPHeaders.Field("If-None-Match", tag.value)
            // The tag is sent with the bytes that were received.
            field.isLatin1 = tag.isLatin1
            request.headers.remove("If-None-Match")
            request.headers = HTTPHeaders(request.headers + [field])
        }
        if let modified { request.headers.set("If-Modified-Since", modified) }
        return tag == nil && modified == nil ? nil : request
    }

    /// Whether a 304 response validates the stored response: a validator that both have is equal (section 4.3.4).
    static func confirms(_ notModified: HTTPHeaders, _ stored: HTTPHeaders) -> Bool {
        var isComparable = false
        for name: HTTPHeaderName in ["ETag", "Last-Modified"] {
            guard let old = stored.values(of: name).first else { continue }
            for new in notModified.values(of: name) {
                if name == "ETag" ? StoredEntityTag(old).matchesWeakly(new) : new.hasSameBytes(as: old) { return true }
                isComparable = true
            }
        }
        return !isComparable
    }

    /// Whether a response to HEAD describes the stored response to GET (section 4.3.5).
    static func describesSame(_ head: HTTPHeaders, _ stored: HTTPHeaders) -> Bool {
        let names: [HTTPHeaderName] = ["ETag", "Last-Modified", .contentLength]
        return names.allSatisfy { name in
            guard let new = head.values(of: name).first, let old = stored.values(of: name).first else { return true }
            return new.hasSameBytes(as: old)
        }
    }

    private static func connectionOptions(_ headers: HTTPHeaders) -> [String] {
        FieldList.items(headers.values(of: "Connection")).map(String.init)
    }

    private static let unstored: Set<HTTPHeaderName> = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie2",
    ]
    private static let describingBody: Set<HTTPHeaderName> = [.contentLength, .contentEncoding, "Content-Range"]
}
