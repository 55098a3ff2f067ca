// Modules that this target's users need as well; visible within the package only.
@_exported import ErrandEssentials
