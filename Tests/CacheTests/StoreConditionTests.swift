import Errand
import ErrandCache
import Foundation
import Testing

@Suite("The condition of a removal", .endsInTime, .leakChecked) struct StoreConditionTests {
    @Test("can read the store that calls it, because it runs outside of locks")
    func reentrant() async throws {
        let store = MemoryStore()
        for number in 0..<3 {
            let url = try #require(URL(string: "https://example.com/\(number)"))
            let head = CacheEntryHead(url: url, received: .now, expires: .now)
            let entry = CacheEntry(head: head, body: HTTPBody(Data(count: 9)))
            try await store.store(entry, for: CacheKey("\(number)"))
        }
        await store.removeAll { head in
            store.entryCount == 3 && store.byteCount > 0 && "\(head.url)".hasSuffix("1")
        }
        #expect(store.entryCount == 2)
        #expect(await store.entry(for: CacheKey("1")) == nil)
    }
}
