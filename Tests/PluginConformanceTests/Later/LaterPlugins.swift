import Errand
import ErrandCache
import ErrandConformance
import Testing

/// Plugins that were written later than the others.
enum LaterPlugins {
    static let filters: [FreshFilter] = [
        FreshFilter(right: "RegionHeader") { RegionHeader(regions: ["eu", "us"]) },
        FreshFilter(right: "ServerClock") { ServerClock() },
        FreshFilter(right: "OrderKeys") { OrderKeys() },
        FreshFilter(right: "TraceParent") { TraceParent() },
        FreshFilter(right: "SumHeader") { SumHeader() },
        FreshFilter(wrong: "SortedSignature") { SortedSignature(key: "later-key-1") },
        FreshFilter(wrong: "AnyLanguage") { AnyLanguage(languages: "de, en") },
        FreshFilter(wrong: "QuietProgress") { QuietProgress() },
        FreshFilter(right: "TokenRenewal", secrets: ["renewal-token-1", "renewal-token-2"]) { TokenRenewal() },
        FreshFilter(wrong: "TokenRefresh") { TokenRefresh() },
        FreshFilter(right: "LastHeads") { LastHeads() },
        FreshFilter(right: "BodyMeter") { BodyMeter() },
        FreshFilter(right: "LastGood") { LastGood() },
        FreshFilter(wrong: "TagMemory") { TagMemory() },
        FreshFilter(wrong: "MinuteMemory") { MinuteMemory() },
        FreshFilter(wrong: "BeginningNote") { BeginningNote() },
        FreshFilter(right: "ReasonNote") { ReasonNote() },
        FreshFilter(wrong: "MaintenanceMark") { MaintenanceMark() },
        FreshFilter(right: "Pace") { Pace() },
        FreshFilter(wrong: "TwoPerHost") { TwoPerHost() },
        FreshFilter(wrong: "BusyDate") { BusyDate() },
        FreshFilter(wrong: "SlowNote") { SlowNote() },
        FreshFilter(right: "PatientNote") { PatientNote() },
    ]

    static let accessories: [FreshAccessory] = [
        FreshAccessory("SlowCalls") { SlowCalls() },
        FreshAccessory("StatusTable") { StatusTable() },
        FreshAccessory("SpinnerCalls") { SpinnerCalls() },
        FreshAccessory("ShortLog", output: \.text) { ShortLog() },
        FreshAccessory("FailureReports", refusedBy: "a law or a case") { FailureReports() },
        FreshAccessory("RedirectTable", refusedBy: "a law or a case") { RedirectTable() },
        FreshAccessory("WireLines", refusedBy: "a law or a case", output: \.text) { WireLines() },
        FreshAccessory("LateWarnings", refusedBy: "a law or a case") { LateWarnings() },
    ]

    static let stores: [FreshStore] = [
        FreshStore(name: "ShardedStore", isWrong: false) { ShardedStore() },
        FreshStore(name: "LogStore", isWrong: false) { LogStore(isCareful: true) },
        FreshStore(name: "DigestFileStore", isWrong: false) { DigestFileStore() },
        FreshStore(name: "LogStore, hasty", isWrong: true) { LogStore(isCareful: false) },
        FreshStore(name: "NumberedStore", isWrong: true) { NumberedStore() },
        FreshStore(name: "DayStore", isWrong: true) { DayStore() },
    ]
}
