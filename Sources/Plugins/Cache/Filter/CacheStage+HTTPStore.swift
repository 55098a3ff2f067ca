import Errand

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the responses for one URL lie in a store: under its key the response itself or, if `Vary` tells several apart, an
/// index of the header names that do; under each variant's key a response. A second index lists for whom there are any,
/// so that an unsafe request finds all of them.
extension CacheStage {
    /// The stored response that matches the request, the newest of several.
    func look(_ call: HTTPCall) async -> (Found?, CacheStatus.Forward) {
        guard case .entry(let entry) = await read(call.key) else { return (nil, .uriMiss) }
        if entry.head.kind == .http { return (Found(key: call.key, entry: entry), .stale) }
        guard entry.head.kind == .index else { return (nil, .uriMiss) }
        var best: Found?
        for names in entry.head.variants {
            let key = KeyText.variant(of: call.key, names: names, headers: exchange.http.headers, call.hasher)
            // What is older than the index was invalidated with the one before.
            guard case .entry(let variant) = await read(key), variant.head.kind == .http,
                variant.head.received >= entry.head.received,
                variant.head.received > best?.entry.head.received ?? .distantPast
            else { continue }
            best = Found(key: key, entry: variant)
        }
        return (best, .varyMiss)
    }

    /// Keeps a server's answer if the rules let it; `old` is what it takes the place of.
    func keep(_ response: HTTPResponse, _ call: HTTPCall, sent: Date, old: CacheKey? = nil) async -> HTTPResponse {
        if let refusal = HTTPCacheRules.refusal(of: response, to: exchange.http) {
            note(CacheStatus(forwardStatus: response.status, detail: "not stored: \(refusal)"))
            // What was validated and came back as something else holds no longer.
            if let old, (200...299).contains(response.status), response.status != 206 { await discard(old) }
            return response
        }
        let received = now
        let fresh = HTTPFreshness(status: response.status, headers: response.headers, sent: sent, received: received)
        let head = head(response, HTTPCacheHeaders.storable(response.headers), fresh, received, call)
        let key = await place(head, VaryRule(response.headers), call)
        if response.body.data == nil {
            var response = response
            let tee = TeeBody(response.body, isAccepted: true)
            writeStream(tee, head, key, call.mark)
            response.body = HTTPBody(length: response.body.length, source: tee)
            return response
        }
        write(CacheEntry(head: head, body: response.body), key, call.mark)
        if policy.waitsForWrite { await cache.flush() }
        return response
    }

    private func head(
        _ response: HTTPResponse, _ headers: HTTPHeaders, _ fresh: HTTPFreshness, _ received: Date, _ call: HTTPCall
    ) -> CacheEntryHead {
        var head = CacheEntryHead(
            .http, url: KeyText.url(call.url), response: response, headers: headers, received: received,
            expires: received + Double(fresh.lifetime - fresh.initialAge), tags: request?.cacheTags ?? [],
            partition: policy.http?.partition.map(call.hasher.hash))
        head.fresh = fresh
        return head
    }

    /// The key for a response, with the indexes that lead to it.
    private func place(_ head: CacheEntryHead, _ vary: VaryRule, _ call: HTTPCall) async -> CacheKey {
        if let owner = call.owner { await list(owner, head, call) }
        guard !vary.names.isEmpty else { return call.key }
        var index = head
        (index.kind, index.variants, index.headers) = (.index, [vary.names], [:])
        if case .entry(let old) = await read(call.key), old.head.kind == .index {
            index.received = old.head.received
            index.variants += old.head.variants.filter { $0 != vary.names }.prefix(7)
            index.expires = max(index.expires, old.head.expires)
            if index.variants == old.head.variants && index.expires == old.head.expires {
                return KeyText.variant(of: call.key, names: vary.names, headers: exchange.http.headers, call.hasher)
            }
        }
        write(CacheEntry(head: index, body: .empty), call.key, call.mark)
        return KeyText.variant(of: call.key, names: vary.names, headers: exchange.http.headers, call.hasher)
    }

    private static func owners(of url: URL) -> CacheKey { CacheKey("owners\nGET \(KeyText.url(url))") }

    /// Remembers that there are responses for somebody; of more than 32, the one first seen is forgotten, with its own.
    private func list(_ owner: String, _ head: CacheEntryHead, _ call: HTTPCall) async {
        let key = Self.owners(of: call.url)
        var owners: [String] = []
        if case .entry(let old) = await read(key) { owners = old.head.variants.first ?? [] }
        if owners.contains(owner) { return }
        owners.append(owner)
        if owners.count > 32 { await discard(Self.key(of: call.url, owner: owners.removeFirst())) }
        var index = head
        (index.kind, index.variants, index.headers) = (.index, [owners], [:])
        index.partition = nil
        write(CacheEntry(head: index, body: .empty), key, call.mark)
    }

    private static func key(of url: URL, owner: String?) -> CacheKey {
        let key = KeyText.http(url, authorization: nil, partition: nil, KeyText.Hasher(secret: []))
        return owner.map { CacheKey("\(key.text)\n\($0)") } ?? key
    }

    /// Gives the stored response the fields of a 304 and writes it again (RFC 9111, section 4.3.4).
    @discardableResult
    func freshen(_ found: Found, _ response: HTTPResponse, _ call: HTTPCall, sent: Date) async -> CacheEntry {
        let old = found.entry
        let received = now
        let merged = HTTPCacheHeaders.merged(old.head.headers, with: response.headers)
        var full = old.head.response(old.body, source: .network)
        full.headers = merged
        let fresh = HTTPFreshness(status: full.status, headers: merged, sent: sent, received: received)
        var head = head(full, HTTPCacheHeaders.storable(merged), fresh, received, call)
        head.version = old.head.version
        if CacheDirectives(response.headers).noStore {
            await discard(found.key)
        } else if old.body.data != nil {
            write(CacheEntry(head: head, body: old.body), found.key, call.mark)
        } else if case .entry(let again) = await read(found.key) {
            // The first body is the caller's.
            let (store, writer, exchange) = (store, cache.writer, exchange)
            writer.follow(
                Task.detached { [head] in
                    do { try await store.store(CacheEntry(head: head, body: again.body), for: found.key) } catch {
                        exchange.note("cache", "an entry could not be written: \(Self.describe(error))")
                    }
                })
        }
        return CacheEntry(head: head, body: old.body)
    }

    /// What an answer to HEAD says of the stored response of GET (RFC 9111, section 4.3.5).
    func learn(from response: HTTPResponse, _ found: Found, _ call: HTTPCall, sent: Date) async {
        if HTTPCacheHeaders.describesSame(response.headers, found.entry.head.headers) {
            await freshen(found, response, call, sent: sent)
        } else {
            await discard(found.key)
        }
    }

    /// Lets an unsafe request pass and forgets what it may have changed (RFC 9111, section 4.4).
    func unsafe(_ policy: CachePolicy.HTTP?) async throws -> HTTPResponse {
        let sent = now
        let response = try await next(exchange)
        for url in HTTPCacheRules.invalidated(by: response, to: exchange.http) { await forget(url) }
        guard let policy, HTTPCacheRules.answersGet(response, to: exchange.http), let hasher = await hasher() else {
            return response
        }
        var asGet = exchange
        asGet.http.method = .get
        let stage = CacheStage(
            cache: cache, exchange: asGet, next: next, policy: self.policy, mode: mode, request: request, store: store)
        return await stage.keep(
            response, stage.call(policy, CacheDirectives(request: asGet.http.headers), hasher), sent: sent)
    }

    /// All responses of a URL, whoever they are for.
    private func forget(_ url: URL) async {
        await remove(Self.key(of: url, owner: nil))
        let owners = Self.owners(of: url)
        guard case .entry(let index) = await read(owners) else { return }
        for owner in index.head.variants.first ?? [] { await remove(Self.key(of: url, owner: owner)) }
        await remove(owners)
    }
}
