import Errand

extension CacheStage {
    /// Has an entry written in the background.
    func write(_ entry: CacheEntry, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let exchange = exchange
        cache.writer.write(entry.head, entry.body, for: key, in: store, since: mark) { error in
            Self.noteUnwritten(error, exchange)
        }
    }

    /// Has a new head of an entry written in the background.
    func update(_ head: CacheEntryHead, of old: CacheEntry, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let exchange = exchange
        let body = old.body.data.map { HTTPBody($0) }
        cache.writer.write(head, body, replacing: old.head, for: key, in: store, since: mark) { error in
            Self.noteUnwritten(error, exchange)
        }
    }

    /// Has an entry written while its body passes to its reader.
    func writeStream(_ tee: TeeBody, _ head: CacheEntryHead, _ key: CacheKey, _ mark: CacheWriter.Mark) {
        let (exchange, store, writer) = (exchange, store, cache.writer)
        let task = Task.detached {
            do {
                let entry = CacheEntry(head: head, body: HTTPBody(source: tee.copy))
                if try await !writer.stream(entry, for: key, in: store, since: mark) { tee.abandon() }
            } catch {
                // The reader goes on without the cache; a reader that left the body is not worth a note.
                if tee.abandon() { Self.noteUnwritten(error, exchange) }
            }
        }
        tee.onEnd { writer.follow(task) }
    }

    /// A note by an activity of its own: the call may be over when a store fails.
    private static func noteUnwritten(_ error: any Error, _ exchange: Exchange) {
        let text = "an entry could not be written: \(describe(error))"
        exchange.detach("cache write") { $0.note("cache", text) }
    }

    static func describe(_ error: any Error) -> String {
        (error as? CacheStoreError)?.description ?? (error as? ErrandError)?.code.description ?? "\(type(of: error))"
    }
}
