"""The routes that list and change indexes, and the jobs that do the work."""

from fastapi import APIRouter

from triplebeam.serve.http.indexing import document_routes, index_routes, job_routes, upkeep_routes

router = APIRouter()
for _part in (index_routes, document_routes, upkeep_routes, job_routes):
    router.include_router(_part.router)
