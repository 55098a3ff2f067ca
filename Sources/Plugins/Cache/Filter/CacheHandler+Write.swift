import Errand

extension CacheHandler {
    /// Writes an entry in the background.
    func write(_ entry: CacheEntry, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let exchange = exchange
        cache.writer.write(entry.head, entry.body, for: key, in: store, since: mark) { [exchange] error in
            Self.noteUnwritten(error, exchange)
        }
    }

    /// Writes a new head of an entry in the background.
    func update(_ head: CacheEntryHead, of old: CacheEntry, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let exchange = exchange
        let body = old.body.data.map { HTTPBody($0) }
        cache.writer.write(head, body, replacing: old.head, for: key, in: store, since: mark) { [exchange] error in
            Self.noteUnwritten(error, exchange)
        }
    }

    /// Writes an entry while the caller reads its body.
    func writeStream(_ tee: TeeBody, _ head: CacheEntryHead, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let (exchange, store, writer) = (exchange, store, cache.writer)
        let task = Task.detached {
            do {
                let entry = CacheEntry(head: head, body: HTTPBody(source: tee.copy))
                if try await !writer.stream(entry, for: key, in: store, since: mark) { tee.abandon() }
            } catch {
                // The caller continues without the cache. A body that the caller did not read to its end is not worth a
                // note.
                if tee.abandon() { Self.noteUnwritten(error, exchange) }
            }
        }
        tee.onEnd { writer.track(task) }
    }

    /// Notes the failure in a separate activity, since the call may have ended when a store fails.
    private static func noteUnwritten(_ error: any Error, _ exchange: Exchange) {
        let text = "an entry could not be written: \(describe(error))"
        exchange.detach("cache write") { $0.note("cache", text) }
    }

    static func describe(_ error: any Error) -> String {
        (error as? CacheStoreError)?.description ?? (error as? ErrandError)?.code.description ?? "\(type(of: error))"
    }
}
