import Errand
import ErrandHTTPSyntax
import ErrandSupport

/// Which header fields are kept, sent and merged (RFC 9111, sections 3.1, 3.2 and 4.3).
enum HTTPCacheHeaders {
    /// Without what belongs to one connection, what `no-cache` names, `Age`, which is counted, and secrets such as
    /// `Set-Cookie`, which never reach a store.
    static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let listed = CacheDirectives(headers).unstoredFields + connectionOptions(headers)
        var result = headers
        result.removeAll { field in
            field.isSensitive || unstored.contains(field.name) || field.name == "Age"
                || listed.contains { ASCII.equalsIgnoringCase($0, field.name.rawName) }
        }
        return result
    }

    /// The stored fields with those of a 304 or of an answer to HEAD in place of the old ones. What describes the bytes
    /// of the stored body stays: they did not change, and may have been decoded since.
    static func merged(_ stored: HTTPHeaders, with new: HTTPHeaders) -> HTTPHeaders {
        var update = new
        let listed = connectionOptions(new)
        update.removeAll { field in
            unstored.contains(field.name) || ofBody.contains(field.name)
                || listed.contains { ASCII.equalsIgnoringCase($0, field.name.rawName) }
        }
        var result = stored
        result.merge(update)
        return result
    }

    /// The request that asks whether a stored response still holds; nil if the response has no validator.
    static func validating(_ request: HTTPRequest, _ stored: HTTPHeaders) -> HTTPRequest? {
        var request = request
        let tag = stored.first { $0.name == "ETag" && !$0.value.isEmpty }
        let modified = stored.values(of: "Last-Modified").first
        if let tag {
            var field = HTTPHeaders.Field("If-None-Match", tag.value)
            // The bytes that came are the bytes that go back.
            field.isLatin1 = tag.isLatin1
            request.headers.remove("If-None-Match")
            request.headers = HTTPHeaders(request.headers + [field])
        }
        if let modified { request.headers.set("If-Modified-Since", modified) }
        return tag == nil && modified == nil ? nil : request
    }

    /// Whether a 304 speaks of the stored response: one of the validators that both have is the same (section 4.3.4).
    static func confirms(_ answer: HTTPHeaders, _ stored: HTTPHeaders) -> Bool {
        var isComparable = false
        for name: HTTPHeaderName in ["ETag", "Last-Modified"] {
            guard let old = stored.values(of: name).first else { continue }
            for new in answer.values(of: name) {
                if name == "ETag" ? EntityTag.matchesWeakly(new, old) : isSame(new, old) { return true }
                isComparable = true
            }
        }
        return !isComparable
    }

    /// Whether an answer to HEAD describes the stored response of GET (section 4.3.5).
    static func describesSame(_ head: HTTPHeaders, _ stored: HTTPHeaders) -> Bool {
        let names: [HTTPHeaderName] = ["ETag", "Last-Modified", .contentLength]
        return names.allSatisfy { name in
            guard let new = head.values(of: name).first, let old = stored.values(of: name).first else { return true }
            return isSame(new, old)
        }
    }

    /// Byte by byte: two spellings of one character are two values.
    private static func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

    private static func connectionOptions(_ headers: HTTPHeaders) -> [String] {
        headers.values(of: "Connection").flatMap(HTTPList.items)
    }

    private static let unstored: Set<HTTPHeaderName> = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie2",
    ]
    private static let ofBody: Set<HTTPHeaderName> = [.contentLength, .contentEncoding, "Content-Range"]
}

/// Entity tags (RFC 9110, section 8.8.3).
enum EntityTag {
    /// The same opaque tag, weak or not.
    static func matchesWeakly(_ a: String, _ b: String) -> Bool { opaque(a).utf8.elementsEqual(opaque(b).utf8) }

    /// The same, and neither weak.
    static func matchesStrongly(_ a: String, _ b: String) -> Bool {
        a.utf8.elementsEqual(b.utf8) && !a.hasPrefix("W/")
    }

    /// Whether `If-None-Match` names the tag, or everything.
    static func list(_ list: String, contains tag: String) -> Bool {
        HTTPList.items(list).contains { $0 == "*" || matchesWeakly($0, tag) }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
