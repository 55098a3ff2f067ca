// The part of Foundation that Errand uses. FoundationEssentials keeps programs small. Systems without it use all of
// Foundation.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
