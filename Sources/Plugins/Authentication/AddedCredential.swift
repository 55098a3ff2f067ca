import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// The changes that a credential made to a request in the call stage. Right before the request is sent, the changes of
/// the current credential replace them.
final class AddedCredential: Sendable {
    struct Repetition: Sendable {
        var count = 0
        var isRefreshed = false
        /// Nil until the server refuses the request.
        var first: CredentialKeeper.Lease?

        func next(after first: CredentialKeeper.Lease, isRefreshed: Bool) -> Repetition {
            Repetition(count: count + 1, isRefreshed: self.isRefreshed || isRefreshed, first: first)
        }
    }

    let keeper: CredentialKeeper
    let lease: CredentialKeeper.Lease
    /// The mark that tells users apart, for example in caches. Nil if the added header fields already tell users apart.
    let mark: UserMark?
    /// Whether a later filter signs the request. A new credential then needs a new signature.
    let isSigned: Bool
    let repetition: Repetition
    private let before, after: HTTPRequest
    private let isClaimed = Atomic(false)
    private let restart = Mutex<Restart?>(nil)

    init(
        _ keeper: CredentialKeeper, lease: CredentialKeeper.Lease, before: HTTPRequest, after: HTTPRequest,
        mark: UserMark?, isSigned: Bool = false, repetition: Repetition = Repetition()
    ) {
        (self.keeper, self.lease, self.mark, self.isSigned) = (keeper, lease, mark, isSigned)
        (self.before, self.after, self.repetition) = (before, after, repetition)
    }

    func isUnchanged(in request: HTTPRequest) -> Bool {
        request.urlText == after.urlText && request.method == after.method
            && request.headers == after.headers
            && Self.isSame(request.body, after.body)
    }

    func adds(_ name: HTTPHeaderName) -> Bool { before.headers[name] != after.headers[name] }

    /// Returns true only once. A second attempt can't send the prepared request again, because a credential may contain
    /// a time.
    func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }

    /// Set if the later call filters have to run again with a new credential.
    ///
    /// The wire filter also throws this error, but a filter in between may catch it.
    var requiredRestart: Restart? { restart.withLock(\.self) }

    func requireRestart(_ repetition: Repetition) -> Restart {
        let required = Restart(keeper: keeper, repetition: repetition)
        restart.withLock { $0 = required }
        return required
    }

    /// Returns nil if the credential can't be separated from the changes of later filters and redirects.
    func removed(from request: HTTPRequest) -> HTTPRequest? {
        var result = request
        if request.method == after.method { result.method = before.method }
        result.headers = headers(of: request.headers)
        if before.urlText != after.urlText {
            if request.urlText == after.urlText {
                result.url = before.url
            } else if let url = URL(
                string: URLSyntax.removing(queryItems: Self.queryItems(before, after), from: request.urlText))
            {
                // A redirect or a filter changed the URL. Remove the credential's query items, if the new URL has them.
                result.url = url
            } else {
                return nil
            }
        }
        if Self.isSame(before.body, after.body) || request.body.isNone { return result }
        guard let body = body(of: request.body) else { return nil }
        result.body = body
        return result
    }

    private func headers(of headers: HTTPHeaders) -> HTTPHeaders {
        let (old, new) = (before.headers, after.headers)
        if old == new { return headers }
        if headers == new { return old }
        var result = headers
        for name in Set(new.map(\.name) + old.map(\.name))
        where new.values(of: name) != old.values(of: name) {
            var added = Self.added(old.values(of: name), new.values(of: name))
            // Each added field is removed only once, because the request may have its own field with the same value.
            var left: [HTTPHeaders.Field] = []
            for field in headers.reversed() where field.name == name {
                if let index = added.firstIndex(of: field.value) {
                    added.remove(at: index)
                } else {
                    left.insert(field, at: 0)
                }
            }
            result.remove(name)
            for field in left.isEmpty ? old.filter({ $0.name == name }) : left {
                result.add(name, field.value, sensitive: field.isSensitive)
            }
        }
        return result
    }

    private func body(of body: RequestBody) -> RequestBody? {
        if Self.isSame(body, after.body) { return before.body }
        let type = body.contentType?.lowercased() ?? ""
        guard type.hasPrefix("application/x-www-form-urlencoded"), let text = body.data,
            let old = before.body.data, let new = after.body.data
        else { return nil }
        let added = Self.added(Self.items(old), Self.items(new))
        guard !added.isEmpty, let left = Self.removing(added, from: Self.items(text)) else {
            return nil
        }
        return .data(Data(left.joined(separator: "&").utf8), contentType: body.contentType)
    }

    /// Identifies the query items and the body that a credential added. Returns nil if it added only header fields.
    static func identity(_ before: HTTPRequest, _ after: HTTPRequest) -> String? {
        var parts: [String] = []
        if before.urlText != after.urlText {
            let items = queryItems(before, after)
            parts.append(items.isEmpty ? after.urlText : items.joined(separator: "&"))
        }
        if !isSame(before.body, after.body) {
            parts.append(after.body.data.map { Hexadecimal.text(SHA256Digest.digest(of: $0)) } ?? "body")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "\n")
    }

    private static func isSame(_ a: RequestBody, _ b: RequestBody) -> Bool {
        guard a.isNone == b.isNone, a.contentType == b.contentType else { return false }
        if let one = a.data, let two = b.data { return one == two }
        return a.data == nil && b.data == nil && a.length == b.length
    }

    static func queryItems(_ before: HTTPRequest, _ after: HTTPRequest) -> [String] {
        before.urlText == after.urlText ? [] : added(items(before.urlText), items(after.urlText))
    }

    private static func items(_ url: String) -> [String] {
        let end = url.firstIndex(of: "#") ?? url.endIndex
        guard let mark = url[..<end].firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)..<end].split(separator: "&", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func items(_ form: Data) -> [String] {
        String(decoding: form, as: UTF8.self).split(separator: "&").map(String.init)
    }

    private static func added(_ old: [String], _ new: [String]) -> [String] {
        var left = old
        return new.filter { item in
            guard let index = left.firstIndex(of: item) else { return true }
            left.remove(at: index)
            return false
        }
    }

    private static func removing(_ items: [String], from all: [String]) -> [String]? {
        var left = all
        for item in items {
            if let index = left.lastIndex(of: item) { left.remove(at: index) }
        }
        return left.count == all.count ? nil : left
    }
}

enum AddedCredentials: TagKey {
    static var defaultValue: [AddedCredential] { [] }
}
