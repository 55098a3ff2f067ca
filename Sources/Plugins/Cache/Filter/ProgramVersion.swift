#if canImport(Darwin)
import Foundation

func programVersion() -> String? {
    Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
}
#else
func programVersion() -> String? { nil }
#endif
