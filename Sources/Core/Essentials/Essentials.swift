// The part of Foundation that Errand uses: FoundationEssentials where it exists, so that a program stays small, and all
// of Foundation elsewhere.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
