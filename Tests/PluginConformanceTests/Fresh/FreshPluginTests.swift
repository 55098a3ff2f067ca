import Errand
import ErrandCacheTesting
import ErrandConformance
import Testing

/// Plugins as developers of apps write them, half of them with one mistake. They were written before the laws.
@Suite("New plugins are judged by the laws", .endsInTime)
struct FreshPluginTests {
    private func cases(of fresh: FreshFilter) -> [PluginConformanceCase] {
        FilterConformance.cases(
            for: fresh.make, secrets: fresh.secrets,
            laws: LawOptions(rounds: fresh.isWrong ? 60 : LawBudget.fewRounds, budget: LawBudget.duration),
            within: .seconds(600),
            gracePeriod: .seconds(fresh.isWrong ? 1 : 300))
    }

    @Test(
        "a law or a case refuses each wrong filter", arguments: FreshFilter.all.filter { $0.isWrong && !$0.isGrowing })
    func wrong(fresh: FreshFilter) async throws {
        var failures: [String] = []
        for each in cases(of: fresh) where each.name == fresh.refusedBy || fresh.refusedBy == nil && each.isLaw {
            do { try await each.run() } catch let failure as ConformanceFailure {
                failures.append(failure.description)
                break
            }
        }
        #expect(failures.count == 1, "\(fresh.name) is not refused")
        if fresh.refusedBy == nil {
            #expect(failures.first?.contains("FilterLaw.") == true, "the failure has no test")
        }
    }

    @Test("no law refuses a right filter", arguments: FreshFilter.all.filter { !$0.isWrong })
    func right(fresh: FreshFilter) async throws {
        for each in cases(of: fresh) where each.isLaw && LawBudget.includes(each.name) { try await each.run() }
    }

    @Test(
        "no case refuses a right filter", .disabled(if: isDebugBuild, "thousands of calls, which CI makes in release"),
        arguments: FreshFilter.all.filter { !$0.isWrong })
    func rightCases(fresh: FreshFilter) async throws {
        for each in cases(of: fresh) where !each.isLaw { try await each.run() }
    }

    @Test(
        "a filter and an accessory that grow are refused",
        .disabled(if: isDebugBuild, "hundreds of thousands of calls, which CI makes in release"))
    func growing() async {
        await #expect(processExitsWith: .success) {
            for fresh in FreshFilter.all where fresh.isGrowing {
                let cases = FilterConformance.cases(for: fresh.make, laws: .off)
                try await #require(throws: ConformanceFailure.self) {
                    for each in cases where each.name == fresh.refusedBy { try await each.run() }
                }
            }
            for fresh in FreshAccessory.all where fresh.isGrowing {
                try await #require(throws: ConformanceFailure.self) {
                    for each in fresh.cases(.seconds(30)) where each.name == fresh.refusedBy { try await each.run() }
                }
            }
        }
    }

    @Test("a case ends although a filter collects every body")
    func collecting() async throws {
        let all = FilterConformance.cases(
            for: {
                .closure { exchange, next in
                    var exchange = exchange
                    exchange.delivery = .data
                    return try await next(exchange)
                }
            }, laws: .off, within: .seconds(600))
        let name = "a call that fails, is rejected or is dropped releases its slot"
        try await #require(all.first { $0.name == name }).run()
    }

    @Test(
        "a case or a law refuses a wrong accessory",
        arguments: FreshAccessory.all.filter { $0.isWrong && !$0.isGrowing })
    func wrong(fresh: FreshAccessory) async throws {
        let each = try #require(fresh.cases(.milliseconds(300)).first { $0.name == fresh.refusedBy })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test("no law refuses a right accessory", arguments: FreshAccessory.all.filter { !$0.isWrong })
    func right(fresh: FreshAccessory) async throws {
        for each in fresh.cases(.seconds(300)) where each.isLaw { try await each.run() }
    }

    @Test("the suite refuses each wrong store, and no right store", arguments: FreshStore.all)
    func stores(fresh: FreshStore) async throws {
        var failures: [String] = []
        for each in CacheStoreSuite.cases {
            do { try await each.run { fresh.make() } } catch { failures.append("\(each): \(error)") }
        }
        #expect(failures.isEmpty != fresh.isWrong, "\(failures)")
    }
}

extension FreshFilter {
    fileprivate var isGrowing: Bool { name == "URLCounts" }
}

extension FreshAccessory {
    fileprivate var isGrowing: Bool { name == "ResponseTimes" }
}

extension PluginConformanceCase {
    fileprivate var isLaw: Bool { name.hasPrefix("law: ") }
}

#if DEBUG
private let isDebugBuild = true
#else
private let isDebugBuild = false
#endif
