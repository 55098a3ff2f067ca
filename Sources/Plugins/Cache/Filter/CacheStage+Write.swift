import Errand

extension CacheStage {
    /// Has an entry written in the background.
    func write(_ entry: CacheEntry, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let exchange = exchange
        cache.writer.write(entry, for: key, in: store, since: mark) { error in
            exchange.note("cache", "an entry could not be written: \(Self.describe(error))")
        }
    }

    /// Has an entry written while its body passes to its reader.
    func writeStream(_ tee: TeeBody, _ head: CacheEntryHead, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let (exchange, store, writer) = (exchange, store, cache.writer)
        let task = Task.detached {
            do {
                if writer.isRemoved(head, key, since: mark) {
                    tee.abandon()
                    return
                }
                try await store.store(CacheEntry(head: head, body: HTTPBody(source: tee.copy)), for: key)
                if writer.isRemoved(head, key, since: mark) { try await store.remove(key) }
            } catch {
                // The reader goes on without the cache; a reader that went away is nothing to tell of.
                if tee.abandon() { exchange.note("cache", "an entry could not be written: \(Self.describe(error))") }
            }
        }
        tee.onEnd { writer.follow(task) }
    }

    static func describe(_ error: any Error) -> String {
        (error as? CacheStoreError)?.description ?? (error as? ErrandError)?.code.description ?? "\(type(of: error))"
    }
}
